"""Patterns over paths, matched step by step: `*`, `?` and `[…]` in a name, `**` for any number of folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

ANY_FOLDERS = "**"


def matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Tell whether the steps of a path match the steps of a pattern. Takes time in proportion to both lengths."""
    states = _reachable(pattern, {0})
    for part in parts:
        stays = {state for state in states if state < len(pattern) and pattern[state] == ANY_FOLDERS}
        moves = {state + 1 for state in states - stays if state < len(pattern) and _name(pattern[state], part)}
        states = _reachable(pattern, stays | moves)
    return len(pattern) in states


def name_matches(pattern: str, name: str) -> bool:
    """Tell whether one name matches a pattern without `/`."""
    return _name(pattern, name)


def _name(pattern: str, name: str) -> bool:
    return _compiled(pattern).match(name) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    # The translation uses atomic groups, so no name makes it slow.
    return re.compile(translate(pattern))


def _reachable(pattern: Sequence[str], states: set[int]) -> set[int]:
    """Return the states, and those after a `**` that stands for no folder."""
    reached = set(states)
    for state in states:
        after = state
        while after < len(pattern) and pattern[after] == ANY_FOLDERS:
            after += 1
            reached.add(after)
    return reached
