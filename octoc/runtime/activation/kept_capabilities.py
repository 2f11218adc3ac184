"""What is under way in one session to switch capabilities, and which of them it has pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octoc.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    import asyncio

    from octoc.runtime.session import Session


class Switching:
    """The wishes of one session: one at a time for each capability, those for different ones side by side."""

    def __init__(self) -> None:
        self.ended = False
        """The session is closed: nothing is activated any more."""
        self.preparing: set[asyncio.Task[Any]] = set()
        """What connects the servers of capabilities that are being activated."""
        self.pins: dict[str, bool] = {}
        """What the session itself has pinned, or let go of the workspace's pins."""
        self._locks: dict[str, asyncio.Lock] = {}

    def lock_of(self, capability: str) -> asyncio.Lock:
        """Return what one wish to switch this capability at a time holds, also while its servers connect."""
        import asyncio

        return self._locks.setdefault(capability, asyncio.Lock())

    @property
    def locks(self) -> tuple[asyncio.Lock, ...]:
        """All that `lock_of` has returned."""
        return tuple(self._locks.values())


def pin(session: Session, capability: str) -> str:
    """Pin a capability in a session; returns what became of it."""
    if session.surface.capability(capability, by_host=True) is None:
        near = did_you_mean(capability, session.surface.switchable)
        return f"Capability '{capability}' not found: {near or 'this agent has no capability of that name'}"
    session.switching.pins[capability] = True
    set_pins(session)
    when = "" if capability in session.active else " once it is active"
    return f"Capability '{capability}' is pinned: it does not give way to others{when}, and counts as one."


def unpin(session: Session, capability: str) -> str:
    """Let a capability give way again in a session; returns what became of it."""
    session.switching.pins[capability] = False
    set_pins(session)
    return f"Capability '{capability}' is not pinned."


def set_pins(session: Session) -> None:
    """Pin what the workspace has pinned, but for what the session has said otherwise."""
    own = session.switching.pins
    pinned = {*session.settings.pinned, *(name for name, wanted in own.items() if wanted)}
    session.active.pinned = frozenset(name for name in pinned if own.get(name, True))
