"""The order of calls that a framework makes at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from octoc.formats.own_tools import CAPABILITY, SKILL

_WITHIN: ContextVar[CallOrder | None] = ContextVar("octoc_call_order", default=None)


class CallOrder:
    """Lets calls of one conversation run at the same time, except those that change which tools exist.

    As in `Session.call_all`, a call of `capability` or `skill` waits for the calls that began before it, and later
    calls wait for it.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Future[None]] = set()
        self._last_alone: tuple[asyncio.Future[None], ...] = ()

    @asynccontextmanager
    async def place(self, name: str) -> AsyncIterator[None]:
        """Wait until a call of this tool may run, and count it as running until the block ends."""
        if _WITHIN.get() is self:  # a tool that calls another tool of its own conversation would wait for itself
            yield
            return
        alone = name in (CAPABILITY, SKILL)
        before = [*self._running] if alone else [*self._last_alone]
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running.add(ended)
        if alone:
            self._last_alone = (ended,)
        token = _WITHIN.set(self)
        try:
            if before:
                await asyncio.wait(before)
            yield
        finally:
            _WITHIN.reset(token)
            ended.set_result(None)
            self._running.discard(ended)
            if ended in self._last_alone:
                self._last_alone = ()
