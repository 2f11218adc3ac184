"""Cuts a long text into windows that overlap, so that the cost of a search grows with the length of the text only.

Some patterns scan the rest of their text from each place where they may begin. They get one window at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 4096
"""Characters of one window. A shorter text is looked at as a whole."""
_OVERLAP = 1024
_BREAK = re.compile(r"[\s\"',;]")
_REST = {"": re.compile(r"[^\s\"'`]*"), '"': re.compile(r'[^"]*'), "'": re.compile(r"[^']*")}


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each window of a text, in code points. A window starts between two words if it can."""
    start = 0
    while len(text) - start > LONGEST:
        end = start + LONGEST
        yield start, end
        middle = end - _OVERLAP // 2
        space = _BREAK.search(text, end - _OVERLAP, middle)
        start = space.end() if space is not None else end - _OVERLAP
    yield start, len(text)


class ValueEnds:
    """Finds where a value ends that its window cuts: at its closing quote, or where its word ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = dict.fromkeys(_REST, -1)

    def end_of(self, start: int, end: int) -> int:
        """Return where the value ends that starts at `start` and reaches at least to `end`."""
        before = self._text[start - 1 : start]
        quote = before if before in _REST else ""
        if self._known[quote] < end:
            rest = _REST[quote].match(self._text, end)
            self._known[quote] = rest.end() if rest is not None else end
        return self._known[quote]
