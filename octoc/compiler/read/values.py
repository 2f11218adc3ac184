"""Laws of values that hold whatever format they came from: bounded depth, finite numbers, text that UTF-8 can carry.

`texts_in` yields the texts of a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place
from octoc.diagnostics.rules import read as rules

MAX_DEPTH = 64
"""Levels of lists and objects inside each other. Real files have fewer than twenty."""

_MAX_REPORTED = 20


def sound(values: dict[str, Any], place: Place, sink: DiagnosticSink) -> dict[str, Any]:
    """Return `values` (changed in place) without what JSON cannot carry or what is nested too deep; each is reported.

    In an object the key goes; in a list the element becomes None, so that the others keep their index.
    """
    if _is_sound(values, MAX_DEPTH):  # without a place for each value, as nearly every file is
        return values
    reported = 0
    pending: list[tuple[KeyPath, Any]] = [((), values)]
    while pending:
        path, holder = pending.pop()
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            here = (*path, key)
            rule, message = rules.UNUSABLE_VALUE, _unusable(key) or _unusable(value)
            if not message and isinstance(value, (dict, list)):
                if len(here) < MAX_DEPTH:
                    pending.append((here, value))
                    continue
                rule, message = rules.TOO_DEEP, f"more than {MAX_DEPTH} lists and objects inside each other"
            if not message:
                continue
            reported += 1
            if reported <= _MAX_REPORTED:
                sink.report(rule, message, at=place.child(*here))
            if isinstance(holder, dict):
                del holder[key]
            else:
                holder[key] = None
    if reported > _MAX_REPORTED:
        message = f"{reported - _MAX_REPORTED} more values are left out"
        sink.report(rules.UNUSABLE_VALUE, message, at=Place(file=place.file))
    return values


def _is_sound(value: Any, depth: int) -> bool:
    """Tell whether a value has no unusable value or key in it, and at most `depth` levels of lists and objects."""
    if isinstance(value, dict):
        inside: Iterable[Any] = value.values()
        if any(map(_unusable, value)):
            return False
    elif isinstance(value, list):
        inside = value
    else:
        return not _unusable(value)
    return depth > 0 and all(_is_sound(item, depth - 1) for item in inside)


def _unusable(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "expected a finite number that fits a 64-bit float"
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            return f"`\\u{ord(value[error.start]):04x}` is half of a surrogate pair, expected a whole character"
    return ""


def texts_in(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield each text in a value, with its path below `path`; keys do not count."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from texts_in(item, (*path, key))
