"""Where a file's comments stand, by format. Text inside a string that looks like a comment does not count."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

import attrs

from octoc.compiler.read.fences import split
from octoc.compiler.read.nodes import Lines, Node, Range

# Possessive throughout, and every string also ends with the text: nothing here is ever tried twice.
_TOML = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*+(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']++|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|(?P<comment>\#[^\n]*+)"
)
_JSON = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|(?P<comment>//[^\n]*+)|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?')
_YAML = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*+", re.MULTILINE)


@attrs.frozen(kw_only=True)
class FileComments:
    """A file's comments, and what else tells which line they are about.

    Args:
        comments: range of each, its mark included, in order.
        strings: first and last line of each string of several lines: a comment cannot stand inside.
        head: offset of the first character that is neither white space nor in a comment (nor opens front matter).
    """

    lines: Lines
    comments: tuple[Range, ...]
    strings: tuple[tuple[int, int], ...]
    head: int


def commented(text: str, kind: str) -> FileComments:
    """Return the comments of `text`, which is `toml`, `json` or `md` (front matter); of all else, none."""
    lines = Lines.of(text)
    comments: list[Range] = []
    strings: list[Range] = []
    if kind == "md":
        comments, strings = _of_front_matter(text)
    elif kind in ("toml", "json"):
        for match in (_TOML if kind == "toml" else _JSON).finditer(text):
            if match.lastgroup == "comment":
                comments.append(match.span())
            elif kind == "toml" and "\n" in match[0]:
                strings.append(match.span())
    return FileComments(
        lines=lines,
        comments=tuple(comments),
        strings=tuple((lines.line_column(start)[0], lines.line_column(end)[0]) for start, end in strings),
        head=_head(text, comments, _start(text, kind)),
    )


def _start(text: str, kind: str) -> int:
    parts = split(text) if kind == "md" else None
    return parts.start if parts is not None else 0


def _head(text: str, comments: list[Range], at: int) -> int:
    for start, end in comments:
        if text[at:start].strip():
            break
        at = end
    return len(text) - len(text[at:].lstrip())


def _of_front_matter(text: str) -> tuple[list[Range], list[Range]]:
    """Return the comments of front matter, and its strings of several lines; nothing when it cannot be read."""
    from octoc.compiler.read.frontmatter import front_matter_positions  # loads PyYAML

    found = front_matter_positions(text)
    parts = split(text)
    if found is None or parts is None:
        return [], []
    positions, base = found
    # A scalar holds no other, so in order of their starts they are in order of their ends too.
    scalars = sorted(_scalars(positions.root, text, base))
    starts = [start for start, _ in scalars]
    comments = []
    for match in _YAML.finditer(text, parts.start, parts.end):
        before = bisect.bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= scalars[before][1]:
            comments.append(match.span())
    return comments, [(start, end) for start, end in scalars if "\n" in text[start:end]]


def _scalars(root: Node, text: str, base: int) -> Iterator[Range]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.key is not None:
            yield node.key[0] + base, node.key[1] + base
        if node.children:
            pending.extend(node.children.values())
        elif node.style:
            start, end = node.value[0] + base, node.value[1] + base
            if node.style == "block":
                # A comment may follow the mark of a block; the text begins with the next line.
                newline = text.find("\n", start, end)
                start = end if newline < 0 else newline
            yield start, end
