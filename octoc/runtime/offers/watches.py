"""The subscriptions of one loaded bundle's sessions: one per resource at its server, kept over lost connections."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import attrs

from octoc.caller import Caller
from octoc.results import ToolCall, ToolFailure, ToolResult
from octoc.runtime.results.failures import failure
from octoc.runtime.results.redact import clean_error
from octoc.runtime.servers.unreachable import UnreachableError

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.plugin import OfferingConnection
    from octoc.runtime.servers.connection import PooledConnection
    from octoc.runtime.servers.pool import Pool

logger = logging.getLogger("octoc.runtime")

_LOOK_S, _MAX_PAUSE_S = 1.0, 60.0
"""Pause between two looks at the connection; doubled after each failure to subscribe again, up to the maximum."""

Updated = Callable[[str], None]


@attrs.frozen
class Subscription:
    """A session's subscription: the resource, and the host's callback."""

    session: int
    uri: str
    updated: Updated


@attrs.frozen(eq=False)
class ServerAccess:
    """What subscriptions need of a bundle: its servers, their connections and secrets, and the sessions by number."""

    servers: Mapping[str, ServerEntry]
    pool: Pool
    secrets: Callable[[str], tuple[str, ...]]


class SessionSubscriptions:
    """The subscriptions of one loaded bundle's sessions."""

    def __init__(self, access: ServerAccess) -> None:
        self._access = access
        self._watches: dict[str, _ServerWatch] = {}

    def of(self, session: int) -> list[Subscription]:
        """Return a session's subscriptions."""
        return [one for watch in self._watches.values() for one in watch.all() if one.session == session]

    async def add(
        self, server: str, subscription: Subscription, caller: Caller, sessions: Mapping[int, object]
    ) -> ToolResult | ToolFailure:
        """Add a subscription. `sessions` are those that still exist, now and later."""
        watch = self._watches.get(server)
        if watch is None:
            watch = self._watches[server] = _ServerWatch(self._access, server, sessions)
        return await watch.add(subscription, caller)

    async def remove(self, subscription: Subscription) -> None:
        """End a subscription."""
        for watch in self._watches.values():
            await watch.remove(subscription)

    async def end_session(self, session: int) -> None:
        """End a session's subscriptions."""
        for one in self.of(session):
            await self.remove(one)

    def close(self) -> None:
        """End all subscriptions; the connections end with the pool."""
        for watch in self._watches.values():
            watch.close()


class _ServerWatch:
    """The subscriptions at one server, over one connection that they keep from being closed as idle."""

    def __init__(self, access: ServerAccess, server: str, sessions: Mapping[int, object]) -> None:
        self._entry = access.servers[server]
        self._pool = access.pool
        self._secrets = access.secrets
        self._server = server
        self._sessions = sessions
        self._by_uri: dict[str, list[Subscription]] = {}
        self._hear: dict[str, Updated] = {}
        self._opened: PooledConnection | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    def all(self) -> list[Subscription]:
        return [one for subscriptions in self._by_uri.values() for one in subscriptions]

    async def add(self, subscription: Subscription, caller: Caller) -> ToolResult | ToolFailure:
        async with self._lock:
            uri = subscription.uri
            if uri not in self._by_uri:
                outcome = await self._subscribed(uri, caller)
                if not outcome.ok:
                    self._release_unused()
                    return clean_error(outcome, self._secrets(self._server))
            present = self._by_uri.setdefault(uri, [])
            if subscription not in present:
                present.append(subscription)
            if self._keeper is None:
                self._keeper = asyncio.create_task(self._keep(), name=f"octoc subscriptions {self._server}")
        return ToolResult(content=(), structured={})

    async def remove(self, subscription: Subscription) -> None:
        async with self._lock:
            uri = subscription.uri
            present = self._by_uri.get(uri, [])
            if subscription not in present:
                return
            present.remove(subscription)
            if present:
                return
            del self._by_uri[uri]
            connection = None if self._opened is None else self._opened.connection
            if connection is not None and connection.alive:
                await connection.unsubscribe(uri, self._hear.pop(uri))  # type: ignore[attr-defined]  # it has subscribed
            self._release_unused()

    def close(self) -> None:
        self._by_uri.clear()
        for task in self._tasks:
            task.cancel()
        self._release_unused()

    async def _subscribed(self, uri: str, caller: Caller) -> ToolResult | ToolFailure:
        entry = self._entry
        try:
            async with asyncio.timeout(entry.timeout_s):
                connection = await self._connected(time.monotonic() + entry.timeout_s)
        except UnreachableError as unreached:
            return unreached.failure
        except TimeoutError:
            return failure("timeout", f"server `{self._server}` did not connect within {entry.timeout_s:g} s")
        if connection is None:
            return failure("not_found", f"the kind of server `{self._server}` has no resources")
        call = ToolCall(
            tool=uri,
            method="resources/subscribe",
            arguments={"uri": uri},
            timeout_s=entry.timeout_s,
            caller=caller,
        )

        def hear(_: str) -> None:
            self._report(uri)  # the server may name a part, which not every agent may know of

        self._hear[uri] = hear
        return await connection.subscribe(call, hear)

    async def _connected(self, until: float) -> OfferingConnection | None:
        """Return the connection of all subscriptions, made if there is none. Raises: UnreachableError."""
        pool = self._pool[self._server]
        if self._opened is not None and not self._opened.connection.alive:
            self._release()
        if self._opened is None:
            pool.check()
            opened = await pool.pick(until)
            opened.users += 1  # it is in use, and takes no place of a call
            self._opened = opened
        from octoc.plugin import OfferingConnection

        connection = self._opened.connection
        return connection if isinstance(connection, OfferingConnection) else None

    def _release_unused(self) -> None:
        if not self._by_uri:
            self._release()
            if self._keeper is not None:
                self._keeper.cancel()
                self._keeper = None

    def _release(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            self._pool[self._server].release(opened)

    def _report(self, uri: str) -> None:
        """Report a change of a resource to its sessions."""
        for one in tuple(self._by_uri.get(uri, ())):
            if one.session not in self._sessions:  # dropped without `close`
                self._spawn(one)
                continue
            try:
                one.updated(uri)
            except Exception:
                logger.exception("the host's callback of a subscription to `%s` failed", uri)

    def _spawn(self, gone: Subscription) -> None:
        task = asyncio.create_task(self.remove(gone), name=f"octoc unsubscribe {self._server}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep(self) -> None:
        """Subscribe again after a lost connection, and report each resource as changed, as news may be lost."""
        pause = _LOOK_S
        while True:
            await asyncio.sleep(pause)
            pause = _LOOK_S
            if self._opened is not None and self._opened.connection.alive:
                continue
            async with self._lock:
                for uri in tuple(self._by_uri):
                    if (await self._subscribed(uri, Caller())).ok:
                        self._report(uri)
                    else:
                        pause = min(2 * pause, _MAX_PAUSE_S)
