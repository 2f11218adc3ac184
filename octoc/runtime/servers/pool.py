"""The connections of one loaded bundle, by server. Bundles share a server that is the same in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from octoc.runtime.cancellation import outlast
from octoc.runtime.servers.server_pool import ServerPool
from octoc.runtime.servers.unreachable import closed
from octoc.runtime.shares import NOBODY

if TYPE_CHECKING:
    import asyncio

    from octoc.results import ServerListing
    from octoc.runtime.servers.lease import Lease

GRACE_S = 1.0
"""What calls under way get when a runtime closes."""


class Pool:
    """Lends connections. A server connects on first use, once for all who wait, and again when it has died."""

    def __init__(self, servers: Mapping[str, ServerPool]) -> None:
        self._by_name = servers
        self._closed = False
        self._own: list[ServerPool] = []
        self._listeners: list[tuple[ServerPool, Callable[[ServerListing], None]]] = []
        for pool in servers.values():
            pool.owners += 1

    def __getitem__(self, server: str) -> ServerPool:
        return self._by_name[server]

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that have a connection, sorted."""
        return tuple(sorted(name for name, pool in self._by_name.items() if pool.open))

    def use(self, server: str, until: float | None = None, account: str = NOBODY, tool: str | None = None) -> Lease:
        """Return what lends a connection, as `async with pool.use(server) as lease`; entering raises UnreachableError.

        Args:
            until: the monotonic time up to which a pause between two attempts to connect is waited out; None tries at
                once, as for a capability that somebody activates.
            account: for whose call it is, and whose share of the server's places it uses.
            tool: what is called, whose breaker counts the outcome; None where no tool is, as for an activation.

        Raises: UnreachableError when the pool is closed, KeyError for a server that is not there.
        """
        from octoc.runtime.servers.lease import Lease

        if self._closed:
            raise closed()
        return Lease(self._by_name[server], until, account, tool)

    def listen(self, server: str, listener: Callable[[ServerListing], None]) -> None:
        """Have `listener` called with every list of the server's tools, and with the last one now."""
        pool = self._by_name[server]
        pool.listeners.append(listener)
        self._listeners.append((pool, listener))
        if pool.listing is not None:
            listener(pool.listing)

    async def close(self, server: str) -> None:
        """Close a server. A call under way still ends on its connection; the next use makes a new one."""
        if server in self._by_name:
            await self._by_name[server].let_go()

    def drop(self, server: str) -> list[asyncio.Task[None]]:
        """Begin what `close` does, and return the closing tasks instead of waiting for them."""
        return self._by_name[server].drop() if server in self._by_name else []

    async def close_all(self, grace_s: float = GRACE_S) -> None:
        """End the servers that no other pool shares, calls under way after `grace_s`; nothing connects afterwards.

        All has ended when this returns, even when the task is cancelled meanwhile.
        """
        import asyncio

        if not self._closed:
            self._closed = True
            for pool, listener in self._listeners:
                pool.listeners.remove(listener)
            for pool in self._by_name.values():
                pool.owners -= 1
                if not pool.owners:
                    self._own.append(pool)
        tasks: set[asyncio.Task[Any]] = set()
        # Also when it is closed again: with less patience it ends sooner.
        for pool in self._own:
            task = asyncio.create_task(pool.end(grace_s), name=f"octoc end {pool.entry.name}")
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await outlast(tasks)
