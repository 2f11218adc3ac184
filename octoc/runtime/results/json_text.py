"""JSON for cutting: read without losing how a number was written, and written without recursion, up to a length."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

MAX_DEPTH = 100
"""How deep what is cut may be nested; parsers that models' programs use take at least that."""


class Literal(str):
    """A number with a fraction or exponent, as it was written: a float would round it."""

    __slots__ = ()


def parse_container(text: str) -> Any:
    """Return the array or object that a text is, or None for any other text.

    What Python's own parser does not take is no JSON here either: NaN, nesting beyond its stack, numbers of thousands
    of digits.
    """
    if text.lstrip(" \t\r\n")[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text, parse_float=Literal, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def quoted(text: str) -> str:
    """Return a JSON string. Halves of surrogate pairs, which no UTF-8 can hold, are escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return encode_basestring_ascii(text)
    return encode_basestring(text)


def scalar(value: Any) -> str:
    """Return a value that is no container as JSON; what JSON does not have, as a string."""
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return quoted(json.dumps(value))
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return quoted(str(value))


def written(value: Any, bound: int | None = None, depth: int | None = None) -> str | None:
    """Return a value as compact JSON, or None where that is longer than `bound` or nested deeper than `depth`.

    Looks at no more of the value than it may write.
    """
    pieces: list[str] = []
    room = bound
    for piece in _pieces(value, bound, depth):
        if piece is None:
            return None
        pieces.append(piece)
        if room is not None:
            room -= len(piece)
            if room < 0:
                return None
    return "".join(pieces)


def whole(value: Any) -> str:
    """Return a value as compact JSON, however long and deep."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        # Too deep for the fast way, no JSON as it stands, or with halves of surrogate pairs.
        return written(value) or ""
    return text


def _pieces(root: Any, bound: int | None, depth: int | None) -> Iterator[str | None]:
    """Yield the text of a value bit by bit; None where it is plain that it exceeds the bounds."""
    levels: list[Iterator[tuple[str, Any]]] = [iter((("", root),))]
    closers = [""]
    while levels:
        step = next(levels[-1], None)
        if step is None:
            levels.pop()
            yield closers.pop()
            continue
        lead, value = step
        if isinstance(value, (Mapping, list, tuple)):
            if (bound is not None and 2 * len(value) > bound) or (depth is not None and len(levels) > depth):
                yield None
                return
            is_object = isinstance(value, Mapping)
            yield lead + ("{" if is_object else "[")
            levels.append(_members(value.items()) if isinstance(value, Mapping) else _items(value))
            closers.append("}" if is_object else "]")
        elif bound is not None and isinstance(value, str) and len(value) > bound:
            yield None
            return
        else:
            yield lead + scalar(value)


def _items(values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    lead = ""
    for value in values:
        yield lead, value
        lead = ","


def _members(members: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, Any]]:
    lead = ""
    for key, value in members:
        yield f"{lead}{quoted(str(key))}:", value
        lead = ","
