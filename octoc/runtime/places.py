"""Places for the calls that run at once on one server: first come, first served, and whoever gives up loses none."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from octoc.runtime.unreachable import closed, unreachable

if TYPE_CHECKING:
    import asyncio

MAX_WAITING = 10_000
"""Calls that may wait for a place at one server; the next is refused."""


class Places:
    """At most `limit` are taken. `enter` waits for one, `leave` gives it to who waits longest."""

    def __init__(self, server: str, limit: int) -> None:
        self.taken = 0
        self._server = server
        self._limit = max(1, limit)
        self._queue: OrderedDict[asyncio.Future[None], None] = OrderedDict()
        self._ended = False

    async def enter(self) -> None:
        """Take a place. Raises: Unreachable when too many wait already, or it has ended."""
        import asyncio

        if self._ended:
            raise closed()
        if self.taken < self._limit and not self._queue:
            self.taken += 1
            return
        if len(self._queue) >= MAX_WAITING:
            message = f"server `{self._server}` is busy: {self._limit} calls run and {len(self._queue)} wait"
            raise unreachable("unavailable", message, final=True)
        turn = asyncio.get_running_loop().create_future()
        self._queue[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            self._queue.pop(turn, None)
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()  # the place had been given just before
            raise

    def leave(self) -> None:
        """Give a place back."""
        while self._queue:
            turn, _ = self._queue.popitem(last=False)
            if not turn.done():
                turn.set_result(None)
                return
        self.taken -= 1

    def end(self) -> None:
        """Refuse all who wait, and all who come."""
        self._ended = True
        for turn in self._queue:
            if not turn.done():
                turn.set_exception(closed())
        self._queue.clear()
