"""Lists of names and words as a message has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def name_list(names: Iterable[object]) -> str:
    """Return "`a`, `b`, `c`"; empty without names."""
    return ", ".join(f"`{name}`" for name in names)


def some_names(names: Sequence[object], limit: int = 10) -> str:
    """Return at most `limit` names for a message, and how many others there are; "none" without any."""
    shown = name_list(names[:limit]) or "none"
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def one_of(names: Iterable[object]) -> str:
    """Return "`a`, `b` or `c`"."""
    return any_of([f"`{name}`" for name in names])


def any_of(texts: Sequence[str]) -> str:
    """Return "a, b or c"."""
    return _ending(texts, "or")


def all_of(texts: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return _ending(texts, "and")


def _ending(texts: Sequence[str], word: str) -> str:
    *head, last = texts
    return f"{', '.join(head)} {word} {last}" if head else last
