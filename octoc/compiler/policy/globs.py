"""Globs over paths: `*` and `?` within a name, `**` over any number of folders. Time grows with pattern times path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_DEEP = "**"


def path_matches(path: str, glob: str) -> bool:
    """Tell whether a POSIX path matches `glob` as a whole: `taps/**` is all below `taps`, `*.toml` is here alone."""
    return _matches(path.split("/"), glob.removeprefix("./").split("/"), _DEEP, _name_matches)


def _name_matches(name: str, glob: str) -> bool:
    return _matches(name, glob, "*", lambda character, wanted: wanted in ("?", character))


def _matches(items: Sequence[str], wanted: Sequence[str], star: str, is_one: Callable[[str, str], bool]) -> bool:
    """Match item by item; `star` stands for any number. Only the last star is ever tried again."""
    at = place = 0
    last_star, resume = -1, 0
    while at < len(items):
        if place < len(wanted) and wanted[place] == star:
            last_star, resume = place, at
            place += 1
        elif place < len(wanted) and is_one(items[at], wanted[place]):
            at += 1
            place += 1
        elif last_star >= 0:
            resume += 1
            at, place = resume, last_star + 1
        else:
            return False
    return all(one == star for one in wanted[place:])
