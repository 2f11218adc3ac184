"""Which active capability is evicted: the least recently used one, and never one that the session keeps.

A session evicts as few as it can so that the others and the new one are within `max_active` and `max_active_tokens`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.runtime.activation.active_set import ActiveSet
    from octoc.runtime.state import SessionState

FitsTokens = Callable[[Sequence[str]], bool]
"""Whether the tools of these capabilities are together within the limit of tokens."""


def evictions(active: ActiveSet, new: Sequence[str], fits_tokens: FitsTokens) -> tuple[str, ...] | None:
    """Return the fewest capabilities, least recently used first, without which the others and `new` are in the limits.

    None if the kept capabilities and `new` alone exceed them.
    """
    candidates = _evictable(active)
    for count in range(len(candidates) + 1):
        evicted = candidates[:count]
        staying = [*(name for name in active.names if name not in evicted), *new]
        if len(staying) <= active.capacity and fits_tokens(staying):
            return evicted
    return None


def evictions_for(session: SessionState, name: str) -> tuple[str, ...] | None:
    """Return what has to be evicted before `name` is activated; None if no eviction helps. Raises: BundleFileError."""
    return evictions(session.active, (name,), _limit_of_tokens(session))


def evictions_over_limits(session: SessionState) -> tuple[str, ...]:
    """Return what has to be evicted because limits or tools have changed. Kept ones stay. Raises: BundleFileError."""
    evicted = evictions(session.active, (), _limit_of_tokens(session))
    return _evictable(session.active) if evicted is None else evicted


def fit_together(session: SessionState, names: Sequence[str]) -> bool:
    """Return whether these and the kept ones can be active at once. Raises: BundleFileError."""
    together = tuple(dict.fromkeys((*_kept(session), *names)))
    return len(together) <= session.active.capacity and _limit_of_tokens(session)(together)


def no_room(session: SessionState, name: str) -> str:
    """Return why no eviction makes room for a capability, in words for a model, with the figures."""
    limit, capacity, counter = session.settings.max_active_tokens, session.active.capacity, session.counter.name
    if capacity < 1:
        return f"Capability '{name}' cannot be activated: the workspace allows no active capability (max_active)."
    kept = _kept(session)
    listed = ", ".join(f"'{one}'" for one in kept)
    if len(kept) >= capacity:
        return (
            f"Capability '{name}' cannot be activated: the workspace allows {capacity} active (max_active), "
            f"and the session keeps {listed}. Disable one of them first."
        )
    alone = _added_tokens(session, (name,))
    if alone > limit:
        return (
            f"Capability '{name}' cannot be activated: the schemas of its tools have {alone} tokens ({counter}), "
            f"and the workspace allows {limit} (max_active_tokens)."
        )
    together = _added_tokens(session, (*kept, name))
    return (
        f"Capability '{name}' cannot be activated: the session keeps {listed}, with which the schemas of its tools "
        f"have {together} tokens ({counter}), and the workspace allows {limit} (max_active_tokens). "
        "Disable one of them first."
    )


def _evictable(active: ActiveSet) -> tuple[str, ...]:
    return tuple(name for name in active.by_last_use() if name not in active.kept)


def _kept(session: SessionState) -> tuple[str, ...]:
    return tuple(name for name in session.active.names if name in session.active.kept)


def _limit_of_tokens(session: SessionState) -> FitsTokens:
    limit = session.settings.max_active_tokens
    return lambda names: not limit or _added_tokens(session, names) <= limit


def _added_tokens(session: SessionState, names: Sequence[str]) -> int:
    """Return how many tokens the schemas of these capabilities' tools have together, each tool once.

    Tools that the session shows anyway do not count. Raises: BundleFileError.
    """
    tools, counter = session.tools, session.counter
    added = {index for name in names for index in tools.owned(name)}.difference(tools.base())
    return sum(tools.scope.tokens(index, counter) for index in added)
