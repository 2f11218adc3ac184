"""Activations and deactivations under way in one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


class Switching:
    """Changes under way in one session: one at a time for each capability, those of different ones at the same time."""

    def __init__(self) -> None:
        self.ended = False
        """The session is closed: nothing is activated any more."""
        self.preparing: set[asyncio.Task[Any]] = set()
        """Tasks that connect the servers of capabilities that are being activated."""
        self.keeps: dict[str, bool] = {}
        """Capability -> whether the session itself keeps it; without an entry the workspace decides."""
        self._locks: dict[str, asyncio.Lock] = {}

    def lock_of(self, capability: str) -> asyncio.Lock:
        """Return what one wish to switch this capability at a time holds, also while its servers connect."""
        import asyncio

        return self._locks.setdefault(capability, asyncio.Lock())

    @property
    def locks(self) -> tuple[asyncio.Lock, ...]:
        """All that `lock_of` has returned."""
        return tuple(self._locks.values())
