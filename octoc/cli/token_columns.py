"""The tokens at the start of an agent, as each command that prints them names them and their parts."""

from __future__ import annotations

from collections.abc import Iterable

from octoc.tokens import APPROXIMATE

AT_THE_START = ("at the start", "prompts", "octoc's tools", "direct tools")
"""The sum, and its parts."""


def title(counters: Iterable[str]) -> str:
    """Return the title of a table of them, with the names of the counters."""
    names = sorted(set(counters))
    is_exact = APPROXIMATE.name not in names
    return f"tokens at the start (counter: {', '.join(names)}{'' if is_exact else ', approximate'})"
