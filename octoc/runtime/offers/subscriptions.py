"""Subscriptions of sessions to resources: one per resource at its server, kept over lost connections and reloads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from octoc.caller import Caller
from octoc.results import ToolCall, ToolFailure, ToolResult
from octoc.runtime.offers.requests import accessible, answer_of, not_found
from octoc.runtime.results.failures import failure
from octoc.runtime.results.redact import clean_error
from octoc.runtime.servers.unreachable import UnreachableError

if TYPE_CHECKING:
    from octoc.plugin import OfferingConnection
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.servers.connection import PooledConnection
    from octoc.runtime.state import RuntimeState, SessionState

logger = logging.getLogger("octoc.runtime")

MAX_SUBSCRIPTIONS = 500
"""Resources that one session may be subscribed to."""
_LOOK_S, _MAX_PAUSE_S = 1.0, 60.0
"""Pause between two looks at the connection; doubled after each failure to subscribe again, up to the maximum."""

Updated = Callable[[str], None]


@attrs.frozen
class Subscription:
    """A session's subscription: the resource, and the host's callback."""

    session: int
    uri: str
    updated: Updated


async def subscribe(session: SessionState, uri: str, updated: Updated, caller: Caller) -> ToolFailure | None:
    """Subscribe a session to a resource that its agent may read. Returns why that failed, or None."""
    access = accessible(session, caller)
    if isinstance(access, ToolFailure):
        return access
    server = access.server_of(uri)
    if server is None:
        return not_found(session, "resource", uri)
    if "subscribe" not in access.features.get(server, ()):
        message = f"server `{server}` does not report changes of its resources"
        return failure("bad_request", message, profile=session.profile)
    subscriptions = session.loaded.offers.subscriptions
    if len(subscriptions.of(session.number)) >= MAX_SUBSCRIPTIONS:
        message = f"the session has {MAX_SUBSCRIPTIONS} subscriptions already"
        return failure("rate_limited", message, profile=session.profile)
    return await subscriptions.add(session, server, Subscription(session.number, uri, updated), caller)


async def unsubscribe(session: SessionState, uri: str, updated: Updated | None) -> None:
    """End a session's subscriptions to a resource: that of one callback, or all."""
    if session.loaded.has_subscriptions:
        subscriptions = session.loaded.offers.subscriptions
        for one in subscriptions.of(session.number):
            if one.uri == uri and updated in (None, one.updated):
                await subscriptions.remove(one)


async def follow(session: SessionState, old: LoadedBundle) -> None:
    """Take a session's subscriptions to its new bundle; those to resources that its agent lost end."""
    for one in old.offers.subscriptions.of(session.number):
        await old.offers.subscriptions.remove(one)
        failed = await subscribe(session, one.uri, one.updated, session.caller)
        if failed is not None:
            logger.info("after a reload a subscription to `%s` ends: %s", one.uri, failed.kind)


class Subscriptions:
    """The subscriptions of one loaded bundle's sessions."""

    def __init__(self, loaded: LoadedBundle) -> None:
        self._loaded = loaded
        self._watches: dict[str, _ServerWatch] = {}

    def of(self, session: int) -> list[Subscription]:
        """Return a session's subscriptions."""
        return [one for watch in self._watches.values() for one in watch.all() if one.session == session]

    async def add(
        self, session: SessionState, server: str, subscription: Subscription, caller: Caller
    ) -> ToolFailure | None:
        """Add a subscription. Returns why that failed, or None."""
        watch = self._watches.get(server)
        if watch is None:
            watch = self._watches[server] = _ServerWatch(self._loaded, server, session.runtime)
        outcome = await watch.add(subscription, caller)
        answer = answer_of(session, server, outcome)
        return answer if isinstance(answer, ToolFailure) else None

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

    def __init__(self, loaded: LoadedBundle, server: str, runtime: RuntimeState) -> None:
        self._loaded = loaded
        self._server = server
        self._runtime = runtime
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
                    return clean_error(outcome, self._loaded.connector.secrets(self._server))
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
        entry = self._loaded.servers[self._server]
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
        pool = self._loaded.pool[self._server]
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
            self._loaded.pool[self._server].release(opened)

    def _report(self, uri: str) -> None:
        """Report a change of a resource to its sessions."""
        for one in tuple(self._by_uri.get(uri, ())):
            if one.session not in self._runtime.sessions:  # dropped without `close`
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
