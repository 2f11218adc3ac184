"""Where front matter begins and ends in a markdown text. Parsing it is in `frontmatter`, which loads PyYAML."""

from __future__ import annotations

import re

import attrs

FENCE = "---"
BLANK_LINE = "blank line"
FILLED_IN = re.compile(r"\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}")
"""What a program replaces before a file is read: the file is a template."""
# Possessive, since a comment that could also end later makes the time double with each comment.
_ABOVE = re.compile(r"(?:\s*+(?><!--.*?-->))*+\s*+(?=^---)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^(?:name|description):", re.MULTILINE)


@attrs.frozen(kw_only=True)
class Split:
    """A markdown text in its parts: `yaml` is `text[start:end]`; `body` is what follows the closing line."""

    start: int
    end: int
    body: int


def split(text: str) -> Split | None:
    """Return where front matter and body stand; None when there is no opening or no closing `---` line."""
    first, newline, _ = text.partition("\n")
    if not newline or first.rstrip() != FENCE:
        return None
    start = at = len(first) + 1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].rstrip() == FENCE:
            return Split(start=start, end=at, body=min(end + 1, len(text)))
        at = end + 1
    return None


@attrs.frozen(kw_only=True)
class LateStart:
    """Front matter that does not begin in line 1: the line where it begins, and what stands above it."""

    line: int
    above: str

    @property
    def advice(self) -> str:
        if self.above == BLANK_LINE:
            return f"delete the {BLANK_LINE} above the front matter, which begins in line 1"
        return f"move the {self.above} below the front matter, which begins in line 1"


def late_start(text: str) -> LateStart | None:
    """Return where front matter begins after blank lines or comments of HTML; None if none does."""
    above = _ABOVE.match(text)
    if above is None or not above[0]:
        return None
    parts = split(text[above.end() :])
    if parts is None or _KEY.search(text, above.end() + parts.start, above.end() + parts.end) is None:
        return None
    return LateStart(line=text.count("\n", 0, above.end()) + 1, above="comment" if above[0].strip() else BLANK_LINE)


def opens(text: str) -> bool:
    """Tell whether the first line is `---`."""
    return text.partition("\n")[0].rstrip() == FENCE
