"""Imports in Markdown: `@path` in a line of text makes a client read another file along with this one.

Source: Claude Code 2.1.50, whose reader takes no import from code, HTML and paths that begin with `@`, and counts a
path from the folder of the file itself; Gemini CLI 0.56, `memoryImportProcessor.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:[^\s\\]|\\ )+)", re.MULTILINE)
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML = re.compile(r"^[ \t]*</?[A-Za-z].*?(?=^[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4}|\t)(?![ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]).*$", re.MULTILINE)
_AROUND = "*_)]}\"'.,;:!?\u3001\u3002\uff09\uff0c\uff1a\uff1b"
_TEXTS = frozenset({".json", ".markdown", ".md", ".mdx", ".toml", ".txt", ".yaml", ".yml"})
"""Endings that tell a path from a handle, a package or an annotation."""
_IN_GENERAL = re.compile(r"(?:^|/)(?:path/to|your|example|filename|file\.md|foo|bar)\b", re.IGNORECASE)


@attrs.frozen
class Import:
    """A path as it is written, without what follows a `#` or closes a sentence; `start` is that of its `@`."""

    path: str
    start: int


def imports_in(text: str) -> Iterator[Import]:
    """Yield the imports of files whose name has the ending of a text; anything else may be a name with an `@`.

    A name without a folder counts only where it is all of its line.
    """
    if "@" not in text:
        return
    for match in _IMPORT.finditer(without_code(text)):
        path = match[1].partition("#")[0].replace("\\ ", " ").rstrip(_AROUND)
        ending = path[path.rfind(".") :].lower()
        if ending not in _TEXTS or path.startswith("@") or _IN_GENERAL.search(path):
            continue
        if "/" in path or _is_alone(text, match.start(), match.end()):
            yield Import(path, match.start())


def without_code(text: str) -> str:
    """Return a text of the same length and lines in which code and HTML are blank."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
            lines.append(" " * len(line))
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            lines.append(" " * len(line))
        else:
            lines.append(line)
    plain = "\n".join(lines)
    for pattern in (_COMMENT, _SPAN, _HTML, _INDENTED):
        plain = pattern.sub(_blank, plain)
    return plain


def _is_alone(text: str, start: int, end: int) -> bool:
    before, after = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    return not before.strip(" \t>-*+") and not after.strip()


def _blank(match: re.Match[str]) -> str:
    # A span leaves a mark: what follows it is not the beginning of a word.
    return re.sub(r"[^\n]", "`", match[0])
