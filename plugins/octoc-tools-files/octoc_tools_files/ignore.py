"""`.gitignore` files: which paths they leave out.

Source: gitignore(5) of Git 2.47.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import attrs

from octoc_tools_files.patterns import ANY_FOLDERS, matches
from octoc_tools_files.root import PathRefusedError, Root

NAME = ".gitignore"
_MAX_BYTES = 256 * 1024
_MAX_RULES = 2000


@attrs.frozen
class IgnoreRule:
    """A line of a `.gitignore` file: steps of a pattern below the folder `base`."""

    base: tuple[str, ...]
    pattern: tuple[str, ...]
    keeps: bool = False
    folders_only: bool = False


def rules_of(text: str, base: tuple[str, ...]) -> list[IgnoreRule]:
    """Return the rules of a `.gitignore` file in the folder `base`."""
    found = (_rule(line, base) for line in text.splitlines()[:_MAX_RULES])
    return [rule for rule in found if rule is not None]


def read_rules(root: Root, folder: int, base: tuple[str, ...]) -> list[IgnoreRule]:
    """Return the rules of the `.gitignore` file of an open folder; none if it has none that may be read."""
    try:
        one = root.open_file(NAME, folder)
    except PathRefusedError:
        return []
    try:
        return rules_of(os.read(one.fd, _MAX_BYTES).decode("utf-8", "replace"), base)
    finally:
        os.close(one.fd)


def is_ignored(parts: Sequence[str], *, is_folder: bool, rules: Iterable[IgnoreRule]) -> bool:
    """Tell whether the last rule that matches a path leaves it out; those of deeper files come last."""
    ignored = False
    for rule in rules:
        depth = len(rule.base)
        if rule.keeps != ignored or (rule.folders_only and not is_folder) or tuple(parts[:depth]) != rule.base:
            continue
        if matches(rule.pattern, parts[depth:]):
            ignored = not rule.keeps
    return ignored


def _rule(line: str, base: tuple[str, ...]) -> IgnoreRule | None:
    line = re.sub(r"(?<!\\) +\Z", "", line.rstrip("\r"))
    keeps = line.startswith("!")
    text = line[1:] if keeps else line
    if not text or text.startswith("#"):
        return None
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    is_anchored = "/" in text
    steps = [_unescaped(step) for step in text.split("/") if step]
    if not steps:
        return None
    if not is_anchored:
        steps.insert(0, ANY_FOLDERS)
    elif steps[-1] == ANY_FOLDERS:  # all that is inside, and not the folder itself
        steps.append("*")
    return IgnoreRule(base, tuple(steps), keeps=keeps, folders_only=folders_only)


def _unescaped(step: str) -> str:
    """Write a character after a backslash as a set of one, which has no other meaning."""
    return re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], step)
