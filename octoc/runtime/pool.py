"""One long-lived connection per server, shared by all calls and sessions of a runtime."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import attrs

from octoc.runtime.results import failure

if TYPE_CHECKING:
    import asyncio

    from octoc.plugin import Connection
    from octoc.results import ToolFailure

logger = logging.getLogger("octoc.runtime")

CLOSED = failure("cancelled", "the runtime is closed")


class Unreachable(Exception):  # noqa: N818  # a state of the world, not a fault in the program
    """A server cannot be used now. `lost` tells that it was connected before and its connection had died."""

    def __init__(self, failure: ToolFailure, *, lost: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.lost = lost


@attrs.define(eq=False)
class _Open:
    connection: Connection
    users: int = 0
    retired: bool = False


class Pool:
    """Connections by server. A server connects on first use, once for all who wait; a failure is tried again next time.

    `connect` makes a connection or raises Unreachable. It runs in a task of its own: whoever waits for it may be
    cancelled, the others still get it.
    """

    def __init__(self, connect: Callable[[str], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._open: dict[str, _Open] = {}
        self._connecting: dict[str, asyncio.Task[_Open]] = {}
        self._closed = False

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that have a connection, sorted."""
        return tuple(sorted(self._open))

    @contextlib.asynccontextmanager
    async def use(self, server: str) -> AsyncIterator[Connection]:
        """Lend the server's connection, connecting first when there is none that lives. Raises: Unreachable."""
        opened = await self._acquire(server)
        opened.users += 1
        try:
            yield opened.connection
        finally:
            opened.users -= 1
            if opened.retired and not opened.users:
                await self._shut(server, opened)

    async def close(self, server: str) -> None:
        """Let a server go. A call that is under way still ends on the old connection; the next use makes a new one."""
        opened = self._open.pop(server, None)
        if opened is not None:
            await self._retire(server, opened)

    async def close_all(self) -> None:
        """End every connection, calls under way included; nothing connects afterwards."""
        import asyncio

        self._closed = True
        tasks = list(self._connecting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        opened, self._open = self._open, {}
        await asyncio.gather(*(self._shut(server, one) for server, one in opened.items()))

    async def _acquire(self, server: str) -> _Open:
        lost = False
        while True:
            opened = self._open.get(server)
            if opened is not None and opened.connection.alive:
                return opened
            if opened is not None:
                lost = True
                del self._open[server]
                await self._retire(server, opened)
            opened = await self._join_connecting(server, lost=lost)
            # Whoever let the server go while this task was waiting has closed the new connection.
            if not opened.retired:
                return opened

    async def _join_connecting(self, server: str, *, lost: bool) -> _Open:
        import asyncio

        if self._closed:
            raise Unreachable(CLOSED)
        task = self._connecting.get(server)
        if task is None:
            task = asyncio.create_task(self._connect_now(server), name=f"octoc connect {server}")
            self._connecting[server] = task
            task.add_done_callback(lambda done: self._forget(server, done))
        try:
            return await asyncio.shield(task)
        except Unreachable as unreachable:
            raise Unreachable(unreachable.failure, lost=lost) from None
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if task.cancelled() and waiting is not None and not waiting.cancelling():
                raise Unreachable(CLOSED) from None
            raise

    async def _connect_now(self, server: str) -> _Open:
        opened = self._open[server] = _Open(await self._connect(server))
        return opened

    def _forget(self, server: str, task: asyncio.Task[_Open]) -> None:
        if self._connecting.get(server) is task:
            del self._connecting[server]
        if not task.cancelled():
            task.exception()  # whoever still waits gets it too; read here, it is not reported as lost when nobody does

    async def _retire(self, server: str, opened: _Open) -> None:
        opened.retired = True
        if not opened.users:
            await self._shut(server, opened)

    async def _shut(self, server: str, opened: _Open) -> None:
        try:
            await opened.connection.close()
        except Exception as error:  # noqa: BLE001  # a plugin's fault while ending must not fail the call that ended
            logger.warning("server `%s` did not close: %s", server, type(error).__name__)
