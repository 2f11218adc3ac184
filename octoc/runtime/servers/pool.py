"""The connections of one loaded bundle, by server. Bundles share a server that is the same in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from octoc.runtime.cancellation import outlast
from octoc.runtime.servers.server_pool import ServerPool
from octoc.runtime.servers.unreachable import UnreachableError, closed
from octoc.runtime.shares import NO_ACCOUNT

if TYPE_CHECKING:
    import asyncio

    from octoc.results import ServerListing
    from octoc.runtime.servers.lease import Lease
    from octoc.runtime.servers.tool_breakers import RequestKind

STARTS = 8
"""The number of servers that start at the same time, as each may be a program to download and run."""
GRACE_S = 1.0
"""The time for running calls to end when a runtime closes."""


class Pool:
    """Lends connections. A server connects on first use, once for all waiting calls, and again after it died."""

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

    def use(
        self,
        server: str,
        until: float | None = None,
        account: str = NO_ACCOUNT,
        tool: str | None = None,
        kind: RequestKind = "tool",
    ) -> Lease:
        """Return a lease of a connection, for `async with pool.use(server) as lease`; entering raises UnreachableError.

        Args:
            until: the monotonic time until which the lease waits for the pause between two attempts to connect; None
                connects at once, as for an activation.
            account: the account whose call it is, and whose share of the server's places it uses.
            tool: the tool, whose breaker counts the outcome; None without a call, as for an activation.
            kind: what `tool` names, if it is not a tool.

        Raises: UnreachableError if the pool is closed, KeyError for an unknown server.
        """
        from octoc.runtime.servers.lease import Lease

        if self._closed:
            raise closed()
        return Lease(self._by_name[server], until, account, tool, kind)

    async def connect(self, server: str) -> str | None:
        """Connect a server if it is not connected. Returns why that failed, or None."""
        try:
            async with self.use(server):
                return None
        except UnreachableError as error:
            return error.failure.message

    async def connect_all(self, servers: Sequence[str]) -> dict[str, str]:
        """Connect servers, `STARTS` of them at the same time. Returns server -> why that failed."""
        import asyncio

        places = asyncio.Semaphore(STARTS)

        async def connect(server: str) -> str | None:
            async with places:
                return await self.connect(server)

        problems = await asyncio.gather(*map(connect, servers))
        return {server: why for server, why in zip(servers, problems, strict=True) if why is not None}

    def listen(self, server: str, listener: Callable[[ServerListing], None]) -> None:
        """Call `listener` with every list of the server's tools, and with the last one now."""
        pool = self._by_name[server]
        pool.listeners.append(listener)
        self._listeners.append((pool, listener))
        if pool.listing is not None:
            listener(pool.listing)

    def drop(self, server: str) -> list[asyncio.Task[None]]:
        """Close a server's connections, each when its last call has ended, and return the tasks that close them now.

        The next use opens a new connection.
        """
        return self._by_name[server].drop() if server in self._by_name else []

    async def close_all(self, grace_s: float = GRACE_S) -> None:
        """End the servers that no other pool shares, and their calls after `grace_s`; nothing connects afterwards.

        All of them have ended when this returns, even if the task is cancelled meanwhile.
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
        # A second call of `close_all` ends the same servers, maybe sooner by a shorter grace.
        await outlast([
            asyncio.create_task(pool.end(grace_s), name=f"octoc end {pool.entry.name}") for pool in self._own
        ])  # fmt: skip
