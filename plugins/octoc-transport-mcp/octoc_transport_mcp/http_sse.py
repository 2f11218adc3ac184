"""The older HTTP transport: one stream of events for all that a server says, and a POST for each message to it.

The SDK's client of it ends with the first message that a server refuses, or the first event that is too long. Here
each costs its own call alone; only the end of the stream is the end of the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import RequestId

from octoc_transport_mcp.http_bounds import EVENT_STREAM, media_type
from octoc_transport_mcp.http_client import NOTICE_S, fault_in
from octoc_transport_mcp.http_events import DroppedEvent, EventCutter, parse_event
from octoc_transport_mcp.http_faults import Fault, HttpFault, HttpState
from octoc_transport_mcp.messages import ElementLimits, read_aside
from octoc_transport_mcp.redirects import stream_within_origin

_ENDS_BYTES = 512
_ID = re.compile(rb'"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]{1,80})")')
_MAX_PASSED_OVER = 4
"""An event that is this many times longer than the limit has no end worth waiting for."""

_LAST_WORDS, _LAST_WORDS_S = 10, 0.02
"""How often, and how long each time, the answers to POSTs are waited for when the stream has ended: they say more."""

Incoming = SessionMessage | Exception


class EventLink:
    """One session over server-sent events. `client` is the link's own, and sends nothing beside it."""

    def __init__(self, client: httpx2.AsyncClient, state: HttpState, max_bytes: int) -> None:
        self._client = client
        self._state = state
        self._max_bytes = max_bytes
        self._elements = ElementLimits.of(state.target)
        self._pending: dict[RequestId, anyio.CancelScope] = {}
        self._listings: set[RequestId] = set()

    @contextlib.asynccontextmanager
    async def streams(
        self,
    ) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
        """Yield the SDK's streams, once the server has said where messages go. Raises: HttpFault."""
        to_session, from_server = anyio.create_memory_object_stream[Incoming](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with self._opened() as response, anyio.create_task_group() as tasks:
                endpoint = await tasks.start(self._read, response, to_session)
                tasks.start_soon(self._write, endpoint, from_session, to_session)
                try:
                    yield from_server, to_server
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[httpx2.Response]:
        url = self._state.target.url or ""
        headers = {"accept": EVENT_STREAM, "cache-control": "no-store"}
        async with stream_within_origin(self._client, "GET", url, headers=headers) as response:
            await self._expect_success(response)
            if media_type(response.headers) != EVENT_STREAM:
                kind = media_type(response.headers)
                found = f"`{kind[:80]}`" if kind else "no content type"
                said = f"answered HTTP {response.status_code} with {found} where `{EVENT_STREAM}` was expected"
                raise HttpFault(Fault(kind="protocol", said=said))
            yield response

    async def _expect_success(self, response: httpx2.Response, *, in_session: bool = False) -> None:
        """Raises: HttpFault, when the response is a refusal or a redirect that may not be followed."""
        if response.next_request is not None:
            raise HttpFault(self._state.of_redirect(response))
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            body = b""
            with contextlib.suppress(httpx2.HTTPError, TimeoutError):
                async with asyncio.timeout(NOTICE_S):
                    body = await response.aread()
            raise HttpFault(self._state.of_status(response, body, in_session=in_session))

    async def _read(
        self, response: httpx2.Response, to_session: MemoryObjectSendStream[Incoming], *, task_status: TaskStatus[str]
    ) -> None:
        """Pass on what the server says, until the stream ends: then the session is over."""
        cutter = EventCutter(self._max_bytes)
        started = False
        ended = "closed its stream of events"
        try:
            async for piece in response.aiter_bytes():
                for whole in cutter.feed(piece):
                    if isinstance(whole, DroppedEvent):
                        said = f"answered with an event of more than {self._max_bytes} bytes"
                        await self._fail(whole.head, Fault(kind="too_large", said=said), to_session)
                        continue
                    event = parse_event(whole)
                    if event.name == "endpoint" and not started:
                        task_status.started(self._endpoint(event.data))
                        started = True
                    elif event.name == "message" and event.data and started:
                        await self._take(event.data, to_session)
                if cutter.passed_over > _MAX_PASSED_OVER * self._max_bytes:
                    ended = "sends an event without end"
                    break
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        except httpx2.RemoteProtocolError:
            pass  # it has been closed in the middle
        except httpx2.HTTPError as error:
            ended = self._state.of_exception(error).said
        if not started:
            raise HttpFault(Fault(kind="protocol", said=f"{ended} before it said where messages go"))
        self._state.lost = True
        self._state.ended = ended
        await self._hear_out()
        to_session.close()

    async def _hear_out(self) -> None:
        for _ in range(_LAST_WORDS):
            if not self._pending:
                return
            await anyio.sleep(_LAST_WORDS_S)

    def _endpoint(self, data: bytes) -> str:
        """Return where messages go. Raises: HttpFault, when that is at another server."""
        url = self._state.target.url or ""
        endpoint = urljoin(url, data.decode("utf-8", "replace").strip())
        here, there = urlsplit(url), urlsplit(endpoint)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            said = f"wants messages to be sent to another server, `{there.scheme}://{there.hostname}`"
            raise HttpFault(Fault(kind="protocol", said=said, permanent=True))
        return endpoint

    async def _take(self, data: bytes, to_session: MemoryObjectSendStream[Incoming]) -> None:
        listing = not self._listings.isdisjoint(coerce_request_id((one or other).decode()) for one, other in _ids(data))
        found = await read_aside(data, self._elements.listing if listing else self._elements.message)
        message, fault = found.message, fault_in(found)
        if message is None or fault is not None:
            if fault is not None:
                await self._fail(data, fault, to_session)
            return
        watcher = self._state.watcher
        if isinstance(message, mcp_types.JSONRPCRequest) and watcher is not None:
            watcher.note_question(message.id, message.method)
        if isinstance(message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)) and message.id is not None:
            if watcher is not None:
                watcher.answered(message.id)
            scope = self._pending.pop(coerce_request_id(message.id), None)
            self._listings.discard(coerce_request_id(message.id))
            if scope is None:
                return  # nobody's answer, or one that comes after the time-out
            scope.cancel()  # the POST has nothing more to tell
        await to_session.send(SessionMessage(message))

    async def _fail(self, head: bytes, fault: Fault, to_session: MemoryObjectSendStream[Incoming]) -> None:
        """Fail the request that a broken answer names, or the only one that waits."""
        named = [coerce_request_id((one or other).decode()) for one, other in _ids(head)]
        failed = [key for key in named if key in self._pending][:1]
        if not failed and len(self._pending) == 1:
            failed = list(self._pending)
        for key in failed:
            await self._answer(key, fault, to_session)

    async def _answer(self, key: RequestId, fault: Fault, to_session: MemoryObjectSendStream[Incoming]) -> None:
        scope = self._pending.pop(key, None)
        self._listings.discard(key)
        if scope is None:
            return
        message = mcp_types.JSONRPCError.model_validate(self._state.error(key, fault))
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await to_session.send(SessionMessage(message))
        scope.cancel()

    async def _write(
        self,
        endpoint: str,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[Incoming],
    ) -> None:
        async with anyio.create_task_group() as posts:
            async for item in from_session:
                message = item.message
                if isinstance(message, mcp_types.JSONRPCRequest):
                    scope = self._pending[coerce_request_id(message.id)] = anyio.CancelScope()
                    if message.method == "tools/list":
                        self._listings.add(coerce_request_id(message.id))
                    posts.start_soon(self._ask, endpoint, message, scope, to_session)
                elif isinstance(message, mcp_types.JSONRPCNotification) and message.method.endswith("/initialized"):
                    await self._tell(endpoint, message)  # before whatever follows it
                else:
                    self._give_up(message)
                    posts.start_soon(self._tell, endpoint, message)

    def _give_up(self, message: mcp_types.JSONRPCMessage) -> None:
        if isinstance(message, mcp_types.JSONRPCNotification) and message.method == "notifications/cancelled":
            request_id = (message.params or {}).get("requestId")
            if isinstance(request_id, (int, str)):
                scope = self._pending.pop(coerce_request_id(request_id), None)
                if scope is not None:
                    scope.cancel()

    async def _ask(
        self,
        endpoint: str,
        message: mcp_types.JSONRPCRequest,
        scope: anyio.CancelScope,
        to_session: MemoryObjectSendStream[Incoming],
    ) -> None:
        with scope:
            try:
                await self._post(endpoint, message)
            except HttpFault as error:
                fault = error.fault
            except Exception as error:  # noqa: BLE001  # whatever network, HTTP or an auth makes of it fails this request alone
                fault = self._state.of_exception(error)
            else:
                return
            await self._answer(coerce_request_id(message.id), fault, to_session)

    async def _tell(self, endpoint: str, message: mcp_types.JSONRPCMessage) -> None:
        """Send what wants no answer: what comes of it shows at the next message that wants one."""
        with contextlib.suppress(Exception):  # whatever came of it
            async with asyncio.timeout(NOTICE_S):
                await self._post(endpoint, message)

    async def _post(self, endpoint: str, message: mcp_types.JSONRPCMessage) -> None:
        wire: Any = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        async with stream_within_origin(self._client, "POST", endpoint, json=wire) as response:
            await self._expect_success(response, in_session=True)
            with contextlib.suppress(httpx2.HTTPError):  # the answer comes on the stream, whatever becomes of this one
                await response.aread()


def _ids(data: bytes) -> list[tuple[bytes, bytes]]:
    return _ID.findall(data[:_ENDS_BYTES]) + _ID.findall(data[-_ENDS_BYTES:])
