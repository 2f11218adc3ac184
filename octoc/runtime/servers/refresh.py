"""List a server's tools again after it reports changes; a burst of reports leads to few listings."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

QUIET_S = 0.25
"""Seconds without a report after which a server is listed."""
MAX_WAIT_S = 2.0
"""Seconds after which a server is listed while reports continue."""


class ListingRefresher:
    """Runs `work` after a burst of calls of `note`, one run at a time; a call during a run begins another.

    Args:
        work: must not raise.
        spawn: runs it in a task, which the caller ends.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], asyncio.Task[None]],
    ) -> None:
        self._work = work
        self._spawn = spawn
        self._last = 0.0
        self._noted = 0
        self._task: asyncio.Task[None] | None = None

    def note(self) -> None:
        """Record a report; never blocks. Call it from the event loop."""
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

        latest = time.monotonic() + MAX_WAIT_S
        while (left := min(self._last + QUIET_S, latest) - time.monotonic()) > 0:  # noqa: ASYNC110  # time is what it waits for
            await asyncio.sleep(left)
