"""ResourceSubscriptions to resources: one per URI and connection, for all of its users, in both eras."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types
from mcp.client.subscriptions import ListenNotSupportedError, ResourceUpdated
from mcp.shared.exceptions import MCPError

from octoc_transport_mcp.listing import RELISTEN_MAX_S, RELISTEN_S

if TYPE_CHECKING:
    from mcp.client.client import Client

log = logging.getLogger(__name__)

MAX_SUBSCRIPTIONS = 1000
"""Maximum resources that one connection is subscribed to."""
END_S = 5.0


class TooManyError(Exception):
    """The connection has no room for another subscription."""


@attrs.define(eq=False)
class _Subscribed:
    """A resource: the callbacks of its users, and the task of its stream of news."""

    users: list[Callable[[str], None]] = attrs.field(factory=list)
    stream: asyncio.Task[None] | None = None


class ResourceSubscriptions:
    """The subscriptions of one connection. In the handshake era the server sends all news on the connection."""

    def __init__(self) -> None:
        self._by_uri: dict[str, _Subscribed] = {}
        self._changing = asyncio.Lock()

    async def add(self, client: Client, uri: str, updated: Callable[[str], None]) -> None:
        """Subscribe at the server, if no other user did. Raises: what the SDK raises, TooManyError."""
        async with self._changing:
            subscribed = self._by_uri.get(uri)
            if subscribed is None:
                if len(self._by_uri) >= MAX_SUBSCRIPTIONS:
                    raise TooManyError(f"the connection has {MAX_SUBSCRIPTIONS} subscriptions already")
                subscribed = _Subscribed(stream=await self._begin(client, uri))
                self._by_uri[uri] = subscribed
            subscribed.users.append(updated)

    async def remove(self, client: Client, uri: str, updated: Callable[[str], None]) -> None:
        """End a user's subscription, and the server's after the last user's."""
        async with self._changing:
            subscribed = self._by_uri.get(uri)
            if subscribed is None:
                return
            subscribed.users = [user for user in subscribed.users if user != updated]
            if subscribed.users:
                return
            del self._by_uri[uri]
            if subscribed.stream is not None:
                subscribed.stream.cancel()
                return
            params = mcp_types.UnsubscribeRequestParams(uri=uri)
            with contextlib.suppress(Exception):
                async with asyncio.timeout(END_S):
                    await client.session.send_request(
                        mcp_types.UnsubscribeRequest(params=params), mcp_types.EmptyResult
                    )

    def hear(self, message: Any) -> None:
        """Report a server's notification of a change to the users of that resource, or of the one that contains it."""
        if isinstance(message, mcp_types.ResourceUpdatedNotification):
            self._report(message.params.uri, streamed=False)

    def close(self) -> None:
        """End all streams: the connection ends."""
        ended, self._by_uri = self._by_uri, {}
        for subscribed in ended.values():
            if subscribed.stream is not None:
                subscribed.stream.cancel()

    def _report(self, uri: str, *, streamed: bool) -> None:
        for known, subscribed in list(self._by_uri.items()):
            if streamed != (subscribed.stream is not None):
                continue  # the SDK reports the news of a stream twice
            # A server may report a part of a resource that a client has subscribed to.
            if uri == known or uri.startswith((f"{known.rstrip('/')}/", f"{known}#", f"{known}?")):
                for updated in tuple(subscribed.users):
                    _run(updated, uri)

    async def _begin(self, client: Client, uri: str) -> asyncio.Task[None] | None:
        """Subscribe; return the task of the stream, None if the connection itself brings the news."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stream = asyncio.create_task(self._listen(client, uri, ready), name=f"octoc resource: {uri}")
        try:
            await ready
        except ListenNotSupportedError:
            params = mcp_types.SubscribeRequestParams(uri=uri)
            await client.session.send_request(mcp_types.SubscribeRequest(params=params), mcp_types.EmptyResult)
            return None
        except BaseException:
            stream.cancel()
            raise
        return stream

    async def _listen(self, client: Client, uri: str, ready: asyncio.Future[None]) -> None:
        """Report the news of a stream, which is opened again when it ends, until the connection is closed."""
        wait = RELISTEN_S
        while True:
            try:
                async with client.listen(resource_subscriptions=[uri]) as news:
                    if ready.done():
                        self._report(uri, streamed=True)  # news sent meanwhile are lost
                    else:
                        ready.set_result(None)
                    wait = RELISTEN_S
                    async for event in news:
                        if isinstance(event, ResourceUpdated):
                            self._report(event.uri, streamed=True)
            except Exception as error:  # noqa: BLE001  # of the server or the network
                if not ready.done():
                    ready.set_exception(error)
                    return
                if isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED:
                    return
            await asyncio.sleep(wait)
            wait = min(2 * wait, RELISTEN_MAX_S)


def _run(callback: Callable[[str], None], uri: str) -> None:
    try:
        callback(uri)
    except Exception:
        # The host's own fault. No caller could handle the exception.
        log.exception("a callback of a subscription failed")
