"""Work of which one account has one piece at a time, so that its backlog takes no more of the event loop than that."""

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
    """One piece of work at a time for each account, in the order in which they come."""

    def __init__(self) -> None:
        self._of: dict[str, _Turn] = {}

    def __len__(self) -> int:
        return len(self._of)

    @contextlib.asynccontextmanager
    async def turn(self, account: str) -> AsyncIterator[None]:
        """Wait for the account's turn, and keep it until the block ends."""
        turn = self._of.setdefault(account, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._of[account]
