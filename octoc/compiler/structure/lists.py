"""Lists of names in the forms that files have them, each name with its place, also inside one string."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.compiler.model.documents import kept
from octoc.compiler.model.source import Located
from octoc.diagnostics.model import Place

# A word may hold what stands in parentheses, as in `Bash(git log:*)`; an unclosed one reaches to the end.
_BY_COMMA = re.compile(r"(?:[^,(\n]|\([^)]*\)?)+")
_BY_SPACE = re.compile(r"(?:[^\s,(]|\([^)]*\)?)+")
_LINE = re.compile(r"[^\n]+")


def texts(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...]:
    """Return the list of strings at `key`, trimmed; `()` when it is absent. `place` is that of `values`."""
    holder = place.child(key)
    return tuple(Located(value.strip(), holder.child(index)) for index, value in kept(values.get(key, ())))


def names_by_comma(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...]:
    """Return the names at `key`: a list, or one string with commas (`Read, Bash(git log:*)`)."""
    return _names(values, key, place, _BY_COMMA)


def names_by_space(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...]:
    """Return the names at `key`: a list, or one string with spaces or commas, in brackets or not (`[git, fetch]`)."""
    return _names(values, key, place, _BY_SPACE)


def lines(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...]:
    """Return the lines at `key`: a list, or one string of several lines."""
    return _names(values, key, place, _LINE)


def _names(values: Mapping[str, Any], key: str, place: Place, pattern: re.Pattern[str]) -> tuple[Located[str], ...]:
    value = values.get(key, ())
    if not isinstance(value, str):
        return texts(values, key, place)
    holder = place.child(key)
    return tuple(
        Located(value[start:end], attrs.evolve(holder, within=(start, end)))
        for start, end in _trimmed_spans(value, pattern)
    )


def _trimmed_spans(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start, end = _strip(text, 0, len(text))
    if pattern is not _LINE and text[start:end].startswith("[") and text[start:end].endswith("]"):
        start, end = start + 1, end - 1
    for match in pattern.finditer(text, start, end):
        inner = _strip(text, *match.span())
        if inner[0] < inner[1]:
            yield inner


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + max(len(part.rstrip()), len(part) - len(part.lstrip()))
