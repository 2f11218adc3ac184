"""Names in one string, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from octoc.compiler.model.located import BY_COMMA, BY_LINE, BY_SPACE, Located
from octoc.diagnostics.model import Place

# A word may hold what stands in parentheses, as in `Bash(git log:*)`; an unclosed one reaches to the end.
_PATTERNS = {
    BY_COMMA: re.compile(r"(?:[^,(\n]|\([^)]*\)?)+"),
    BY_SPACE: re.compile(r"(?:[^\s,(]|\([^)]*\)?)+"),
    BY_LINE: re.compile(r"[^\n]+"),
}


def split(text: str, place: Place, kind: str) -> tuple[Located[str], ...]:
    """Return the names in one string, each with its place; `kind` is `BY_COMMA`, `BY_SPACE` or `BY_LINE`."""
    return tuple(
        Located(text[start:end], attrs.evolve(place, within=(start, end))) for start, end in _trimmed_spans(text, kind)
    )


def _trimmed_spans(text: str, kind: str) -> Iterator[tuple[int, int]]:
    start, end = _strip(text, 0, len(text))
    if kind != BY_LINE and text[start:end].startswith("[") and text[start:end].endswith("]"):
        start, end = start + 1, end - 1
    for match in _PATTERNS[kind].finditer(text, start, end):
        inner = _strip(text, *match.span())
        if inner[0] < inner[1]:
            yield inner


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + max(len(part.rstrip()), len(part) - len(part.lstrip()))
