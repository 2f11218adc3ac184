"""Near names, ranked: what the user may have meant. The message is true without the hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_CUTOFF = 0.6


def near_names(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return at most `limit` of `known` that are near `name`, the nearest first, ties by name.

    Case and the separators `-`, `_`, `.` count for nothing; one name that contains the other is near.
    """
    wanted = _fold(name)
    ranked: list[tuple[float, str]] = []
    for candidate in set(known):
        folded = _fold(candidate)
        ratio = difflib.SequenceMatcher(None, wanted, folded).ratio()
        # A short name is rarely near a long one by ratio, yet `postgres` for `database-postgres` is what was meant.
        if len(wanted) >= 3 and (wanted in folded or (len(folded) >= 3 and folded in wanted)):
            ratio = max(ratio, 0.75)
        if ratio >= _CUTOFF:
            ranked.append((-ratio, candidate))
    return tuple(candidate for _, candidate in sorted(ranked)[:limit])


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean `x`?" for the nearest known names, or None when nothing is near."""
    near = near_names(name, known)
    if not near:
        return None
    *head, last = [f"`{candidate}`" for candidate in near]
    return f"did you mean {', '.join(head)} or {last}?" if head else f"did you mean {last}?"


def _fold(name: str) -> str:
    return name.lower().translate(str.maketrans("", "", "-_. "))
