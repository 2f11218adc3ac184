"""Which scripts a bundle may run: the lesser of the bundle's own setting and the host's limit."""

from __future__ import annotations

from typing import get_args

from octoc.choices import DepsLimit, ValidateLimit
from octoc.lists import name_list


def checked_limits(deps: str | None, validate: str | None) -> None:
    """Raise ValueError for an unknown limit, as a misspelled one must not allow more."""
    for name, value, words in (("deps", deps, get_args(DepsLimit)), ("validate", validate, get_args(ValidateLimit))):
        if value is not None and value not in words:
            expected = name_list(words)
            raise ValueError(f"`{name}` is `{value}`, expected {expected} or None")


def lesser(asked: str, allowed: str | None) -> str:
    """Return the lesser of two limits. `allowed` None sets no limit; an unknown `asked` means `never`."""
    order: tuple[str, ...] = get_args(DepsLimit)
    if allowed is None:
        return asked
    return min(asked, allowed, key=order.index) if asked in order else "never"
