"""Limits an account to one piece of work at a time, so that its backlog cannot block the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import attrs


@attrs.define
class _Turn:
    lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    users: int = 0


class Turns:
    """One piece of work at a time for each account, in order of arrival."""

    def __init__(self) -> None:
        self._of: dict[str, _Turn] = {}

    def __len__(self) -> int:
        return len(self._of)

    @contextlib.asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait for the account's turn, and hold it during the block."""
        turn = self._of.setdefault(account, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._of[account]
