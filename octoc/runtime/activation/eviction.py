"""Eviction within a session's limits of number and tokens; `ActiveSet` decides the order, least recently used first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.runtime.activation.active_set import Fits
    from octoc.runtime.state import SessionState


def added_tokens(session: SessionState, names: Sequence[str]) -> int:
    """Return how many tokens the schemas of these capabilities' tools have together, each tool once.

    What a session shows anyway counts for none of them. Raises: BundleRefused.
    """
    surface, counter = session.tools, session.counter
    added = {index for name in names for index in surface.owned(name)}.difference(surface.base())
    return sum(surface.scope.tokens(index, counter) for index in added)


def _fits(session: SessionState) -> Fits:
    limit = session.settings.max_active_tokens
    return lambda names: not limit or added_tokens(session, names) <= limit


def making_room(session: SessionState, name: str) -> tuple[str, ...] | None:
    """Return what has to be evicted for `name`; None if no eviction makes room. Raises: BundleRefused."""
    return session.active.making_room(name, _fits(session))


def fit_together(session: SessionState, names: Sequence[str]) -> bool:
    """Return whether these can be active at once, beside what is pinned. Raises: BundleRefused."""
    active = session.active
    whole = tuple(dict.fromkeys((*(one for one in active.names if one in active.pinned), *names)))
    return len(whole) <= active.capacity and _fits(session)(whole)


def surplus(session: SessionState) -> tuple[str, ...]:
    """Return what has to go because limits or tools have changed. Raises: BundleRefused."""
    return session.active.surplus(_fits(session))


def no_room(session: SessionState, name: str) -> str:
    """Return why there is no room for a capability, in words for a model, with the figures."""
    settings, active = session.settings, session.active
    if active.capacity < 1:
        return f"Capability '{name}' cannot be activated: the workspace allows no active capability (max_active)."
    pinned = tuple(one for one in active.names if one in active.pinned)
    listed = ", ".join(f"'{one}'" for one in pinned)
    if len(pinned) >= active.capacity:
        return (
            f"Capability '{name}' cannot be activated: the workspace allows {active.capacity} active (max_active), "
            f"and {listed} cannot give way, being pinned. Disable one of them first."
        )
    limit = settings.max_active_tokens
    alone = added_tokens(session, (name,))
    if alone > limit:
        return (
            f"Capability '{name}' cannot be activated: the schemas of its tools have {alone} tokens "
            f"({session.counter.name}), and the workspace allows {limit} (max_active_tokens)."
        )
    together = added_tokens(session, (*pinned, name))
    return (
        f"Capability '{name}' cannot be activated: with {listed}, which cannot give way, being pinned, the schemas of "
        f"its tools have {together} tokens ({session.counter.name}), and the workspace allows {limit} "
        "(max_active_tokens). Disable one of them first."
    )
