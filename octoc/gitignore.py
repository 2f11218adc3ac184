"""Which files a `.gitignore` excludes, as far as a search needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from octoc.linear_regex import RegexError, compile_regex

MAX_PATTERNS = 1000
"""Lines of one file that are read."""


@attrs.frozen
class Ignored:
    """One line: `expression` matches a path relative to the file's folder; a negated line includes the path again."""

    expression: Any
    negated: bool
    folders_only: bool

    def applies(self, path: str, *, is_dir: bool) -> bool:
        """Return whether the line matches `path`, POSIX and relative to the file's folder."""
        return (is_dir or not self.folders_only) and self.expression.fullmatch(path) is not None


def parse_gitignore(text: str) -> tuple[Ignored, ...]:
    """Return the patterns of a `.gitignore`. Source: gitignore(5)."""
    patterns: list[Ignored] = []
    for line in text.splitlines()[:MAX_PATTERNS]:
        pattern = line.rstrip()
        if not pattern or pattern.startswith("#"):
            continue
        negated = pattern.startswith("!")
        pattern = pattern[1:] if negated else pattern.removeprefix("\\")
        folders_only = pattern.endswith("/")
        pattern = pattern.rstrip("/")
        anchored = "/" in pattern
        pattern = pattern.removeprefix("/")
        if not pattern:
            continue
        try:
            expression = compile_regex(("" if anchored else "(?:.*/)?") + "".join(_translated(pattern)))
        except RegexError:
            continue
        patterns.append(Ignored(expression, negated, folders_only))
    return tuple(patterns)


def is_ignored(levels: Iterable[tuple[str, tuple[Ignored, ...]]], path: str, *, is_dir: bool) -> bool:
    """Return whether the `.gitignore` files in the folders above `path` exclude it.

    Args:
        levels: (folder, its lines), from the outermost on; the last line that matches the path decides.
        path: POSIX, relative to the outermost folder, whose name is an empty text.
    """
    excluded = False
    for folder, lines in levels:
        inside = path[len(folder) + 1 :] if folder else path
        for line in lines:
            if line.applies(inside, is_dir=is_dir):
                excluded = not line.negated
    return excluded


def _translated(pattern: str) -> Iterable[str]:
    import re2

    at = 0
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("**/"):
            yield "(?:.*/)?"
            at += 3
        elif rest == "**":
            yield ".*"
            at += 2
        elif rest[0] == "*":
            yield "[^/]*"
            at += 1
        elif rest[0] == "?":
            yield "[^/]"
            at += 1
        elif rest[0] == "[" and "]" in rest[2:]:
            end = rest.index("]", 2)
            inner = rest[1:end].replace("\\", "\\\\").replace("[", "\\[")
            yield f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]"
            at += end + 1
        else:
            at += rest[0] == "\\" and len(rest) > 1
            yield re2.escape(pattern[at])
            at += 1
