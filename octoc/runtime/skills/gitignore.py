"""What a `.gitignore` leaves out, as far as searching needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

MAX_PATTERNS = 1000
"""How many lines of one file count."""


@attrs.frozen
class Ignored:
    """One line: `expression` matches a path relative to the file's folder; a negated one takes back what others say."""

    expression: Any
    negated: bool
    folders_only: bool

    def applies(self, path: str, *, is_dir: bool) -> bool:
        """Return whether the line speaks of `path`, POSIX and relative to the file's folder."""
        return (is_dir or not self.folders_only) and self.expression.fullmatch(path) is not None


def parse_gitignore(text: str) -> tuple[Ignored, ...]:
    """Return the lines of a `.gitignore` that mean something. Source: gitignore(5)."""
    import re2

    options = re2.Options()
    options.log_errors = False
    found: list[Ignored] = []
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
            # RE2, as the lines are whoever's the folder is: backtracking takes as long as they like.
            expression = re2.compile(("" if anchored else "(?:.*/)?") + "".join(_translated(pattern)), options)
        except re2.error:
            continue
        found.append(Ignored(expression, negated, folders_only))
    return tuple(found)


def is_ignored(levels: Iterable[tuple[str, tuple[Ignored, ...]]], path: str, *, is_dir: bool) -> bool:
    """Return whether `path` is left out by the files above it.

    Args:
        levels: (folder, its lines), from the outermost on; the last line that speaks of the path decides.
        path: POSIX, relative to the outermost folder, which is written as an empty text.
    """
    left_out = False
    for folder, lines in levels:
        inside = path[len(folder) + 1 :] if folder else path
        for line in lines:
            if line.applies(inside, is_dir=is_dir):
                left_out = not line.negated
    return left_out


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
