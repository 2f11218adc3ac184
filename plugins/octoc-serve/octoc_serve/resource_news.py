"""The resources that one client is subscribed to, and the news of their changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any

from octoc_serve.error_boundary import error_boundary

if TYPE_CHECKING:
    from octoc.plugin import ToolFailure
    from octoc.runtime import Session


class ResourceNews:
    """The subscriptions of one client, each by the event streams that need it; None is the client's own stream.

    Args:
        report: sends the news that a resource changed.
    """

    def __init__(self, session: Session, report: Callable[[str], Awaitable[None]]) -> None:
        self._session = session
        self._report = report
        self._streams: dict[str, set[object]] = {}
        self._changed: dict[str, None] = {}
        self._reporting = False
        self._tasks: set[asyncio.Task[None]] = set()

    def has(self, uri: str, stream: object = None) -> bool:
        """Return whether a stream needs the news of a resource."""
        return stream in self._streams.get(uri, ())

    async def begin(self, uri: str, stream: object = None) -> ToolFailure | None:
        """Subscribe to a resource. Returns why that failed, or None."""
        failed = await self._session.subscribe(uri, self._note)
        if failed is None:
            self._streams.setdefault(uri, set()).add(stream)
        return failed

    async def end(self, uri: str, stream: object = None) -> None:
        """End a stream's subscription to a resource, and the session's after the last stream's."""
        streams = self._streams.get(uri, set())
        streams.discard(stream)
        if not streams and self._streams.pop(uri, None) is not None:
            await self._session.unsubscribe(uri, self._note)

    def end_soon(self, uris: Collection[str], stream: object) -> None:
        """End a stream's subscriptions in the background, for a request that is cancelled."""
        for uri in uris:
            self._spawn(self.end(uri, stream), "end of a subscription")

    def close(self) -> None:
        """Send no more news. The session ends the subscriptions."""
        for task in self._tasks:
            task.cancel()

    def _note(self, uri: str) -> None:
        self._changed[uri] = None  # a resource that changes often is reported once while a report waits
        if not self._reporting:
            self._reporting = True
            self._spawn(self._reports(), "news of resources")

    async def _reports(self) -> None:
        while self._changed:
            uri = next(iter(self._changed))
            del self._changed[uri]
            with error_boundary("reporting a changed resource"):
                await self._report(uri)
        self._reporting = False

    def _spawn(self, work: Coroutine[Any, Any, None], what: str) -> None:
        task = asyncio.create_task(work, name=f"octoc serve: {what}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
