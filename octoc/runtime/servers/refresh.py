"""Listing a server's tools again after it reports changes; a burst of reports leads to few listings."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

QUIET_S = 0.25
"""A server is listed when it has been quiet for so long,"""
MAX_WAIT_S = 2.0
"""or has not been quiet for so long."""


class Refresher:
    """Runs `work` after a burst of calls of `note`, one run at a time; what comes during a run begins another.

    Args:
        work: must not raise.
        spawn: runs it in a task that somebody ends.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], asyncio.Task[None]],
        *,
        quiet_s: float = QUIET_S,
        max_wait_s: float = MAX_WAIT_S,
    ) -> None:
        self._work = work
        self._spawn = spawn
        self._quiet_s = quiet_s
        self._max_wait_s = max_wait_s
        self._last = 0.0
        self._noted = 0
        self._task: asyncio.Task[None] | None = None

    def note(self) -> None:
        """Note a change; never blocks. To be called from the event loop."""
        self._last = time.monotonic()
        self._noted += 1
        if self._task is None or self._task.done():
            self._task = self._spawn(self._run)

    async def _run(self) -> None:
        done = -1
        while done != self._noted:
            await self._quiet()
            done = self._noted
            await self._work()

    async def _quiet(self) -> None:
        import asyncio

        latest = time.monotonic() + self._max_wait_s
        while (left := min(self._last + self._quiet_s, latest) - time.monotonic()) > 0:  # noqa: ASYNC110  # time is what it waits for
            await asyncio.sleep(left)
