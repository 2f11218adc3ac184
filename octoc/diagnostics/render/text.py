"""Makes text from inputs safe and measurable on a terminal: escapes, and how many cells a character takes."""

from __future__ import annotations

import re
import unicodedata

import attrs

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, format characters (bidirectional ones among them), lone surrogates, line and paragraph separators."""
_TAB = "    "


def escape(text: str) -> str:
    r"""Return `text` with every character that a terminal would obey, and not show, written as `\u{202E}`."""
    return text if text.isprintable() else "".join(map(_shown, text))


def cells(text: str) -> int:
    """Return how many cells of a terminal `text` takes: none for a combining mark, two for a wide character."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def wrapped(text: str, width: int | None, *, indent: int = 0, taken: int = 0) -> list[str]:
    """Return `text` as lines of at most `width` cells, broken at spaces; a word that does not fit is cut.

    Args:
        width: None leaves the text in one line.
        indent: the cells in front of each line after the first, as spaces.
        taken: the cells in front of the first line, which the caller writes.
    """
    if width is None or taken + cells(text) <= width:
        return [text]
    lines, line, used = [], "", taken
    for word in re.findall(r"\S+\s*|\s+", text):
        if line.strip() and used + cells(word.rstrip()) > width:
            lines.append(line.rstrip())
            line, used = " " * indent, indent
        for character in word:
            if used + _cells_of(character) > width and line.strip() and character != " ":
                lines.append(line.rstrip())
                line, used = " " * indent, indent
            line += character
            used += _cells_of(character)
    return [*lines, line.rstrip()]


@attrs.frozen(kw_only=True)
class ShownLine:
    """A source line as it is shown, from its code point `first` on.

    `starts[i]` is the cell where code point `first + i` starts; the last entry is the end.
    """

    text: str
    starts: tuple[int, ...]
    first: int = 0

    def cell(self, column: int) -> int:
        """Return the cell of a column, counted from 1 in the whole line, clamped to what is shown."""
        return self.starts[min(max(column - 1 - self.first, 0), len(self.starts) - 1)]


def show_line(line: str, first: int = 0, last: int | None = None) -> ShownLine:
    """Return code points `first` to `last` (exclusive) of a line with tabs as four spaces and the rest escaped."""
    last = len(line) if last is None else min(last, len(line))
    pieces = [_TAB if character == "\t" else _shown(character) for character in line[first:last]]
    before, after = "…" if first else "", "…" if last < len(line) else ""
    starts = [len(before)]
    for piece in pieces:
        starts.append(starts[-1] + cells(piece))
    return ShownLine(text=f"{before}{''.join(pieces)}{after}".rstrip(), starts=tuple(starts), first=first)


def _shown(character: str) -> str:
    return f"\\u{{{ord(character):X}}}" if unicodedata.category(character) in _HIDDEN else character


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
