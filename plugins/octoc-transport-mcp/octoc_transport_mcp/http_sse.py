"""The older HTTP transport: one stream of events from the server, and a POST for each message to it.

The SDK's client ends the session at the first message that a server refuses, and at the first event that is too long.
Here each of them fails its own call only; the session ends with the stream.
"""

from __future__ import annotations

import asyncio
import contextlib
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

from octoc_transport_mcp.framing import END_BYTES
from octoc_transport_mcp.http_bounds import EVENT_STREAM, media_type
from octoc_transport_mcp.http_client import NOTICE_S, refusal_of
from octoc_transport_mcp.http_events import DroppedEvent, EventCutter, parse_event
from octoc_transport_mcp.http_faults import Fault, HttpFaultError, HttpState
from octoc_transport_mcp.messages import ElementLimits, LineFault, read_aside
from octoc_transport_mcp.pending_requests import AdmittedMessage, PendingRequests, cancelled_id
from octoc_transport_mcp.redirects import stream_within_origin

_MAX_PASSED_OVER = 4
"""An event that is this many times longer than the limit ends the session."""

_LAST_ANSWERS, _LAST_ANSWERS_S = 10, 0.02
"""How often, and how long each time, an ended session waits for the answers to its POSTs, which give a reason."""

Incoming = SessionMessage | Exception


class EventLink:
    """One session over server-sent events. `client` is used by this session alone."""

    def __init__(self, client: httpx2.AsyncClient, state: HttpState, max_bytes: int) -> None:
        self._client = client
        self._state = state
        self._max_bytes = max_bytes
        self._pending = PendingRequests(
            max_bytes, ElementLimits.of(state.target), state.claims, all_messages=True, error_of=self._error
        )
        self._posts: dict[RequestId, anyio.CancelScope] = {}
        self._to_session, self._from_server = anyio.create_memory_object_stream[Incoming](0)

    @contextlib.asynccontextmanager
    async def streams(
        self,
    ) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
        """Yield the SDK's streams, once the server has sent the address for messages. Raises: HttpFaultError."""
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with self._opened() as response, anyio.create_task_group() as tasks:
                endpoint = await tasks.start(self._read, response)
                tasks.start_soon(self._write, endpoint, from_session)
                try:
                    yield self._from_server, to_server
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            for stream in (self._to_session, self._from_server, to_server, from_session):
                stream.close()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[httpx2.Response]:
        url = self._state.target.url or ""
        headers = {"accept": EVENT_STREAM, "cache-control": "no-store"}
        async with stream_within_origin(self._client, "GET", url, headers=headers) as response:
            await self._expect_success(response)
            if media_type(response.headers) != EVENT_STREAM:
                raise HttpFaultError(self._state.of_content(response, f"`{EVENT_STREAM}`"))
            yield response

    async def _expect_success(self, response: httpx2.Response, *, in_session: bool = False) -> None:
        """Check that the response is neither a refusal nor a redirect to another server. Raises: HttpFaultError."""
        if response.next_request is not None:
            raise HttpFaultError(self._state.of_redirect(response))
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            body = await refusal_of(response)
            raise HttpFaultError(self._state.of_status(response, body, in_session=in_session))

    async def _read(self, response: httpx2.Response, *, task_status: TaskStatus[str]) -> None:
        """Pass the server's messages to the session until the stream ends, and then end the session."""
        cutter = EventCutter(self._max_bytes)
        started = False
        ended = "closed its stream of events"
        try:
            async for piece in response.aiter_bytes():
                for whole in cutter.feed(piece):
                    if isinstance(whole, DroppedEvent):
                        fault = LineFault(kind="too_large", reason=f"an event of more than {self._max_bytes} bytes")
                        data = parse_event(whole.head).data
                        await self._pass(self._pending.fail(data[:END_BYTES], data[-END_BYTES:], fault))
                        continue
                    event = parse_event(whole)
                    if event.name == "endpoint" and not started:
                        task_status.started(self._endpoint(event.data))
                        started = True
                    elif event.name == "message" and event.data and started:
                        await self._pass(self._pending.admit(event.data))
                if cutter.passed_over > _MAX_PASSED_OVER * self._max_bytes:
                    ended = "sends an event without end"
                    break
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        except httpx2.RemoteProtocolError:
            pass  # the server closed it in the middle
        except httpx2.HTTPError as error:
            ended = self._state.of_exception(error).reason
        if not started:
            raise HttpFaultError(Fault(kind="protocol", reason=f"{ended} before it said where messages go"))
        self._state.lost = True
        self._state.ended = ended
        await self._wait_for_answers()
        self._to_session.close()

    async def _wait_for_answers(self) -> None:
        for _ in range(_LAST_ANSWERS):
            if self._pending.requests:
                await anyio.sleep(_LAST_ANSWERS_S)

    def _endpoint(self, data: bytes) -> str:
        """Return the address for messages. Raises: HttpFaultError, if it is at another server."""
        url = self._state.target.url or ""
        endpoint = urljoin(url, data.decode("utf-8", "replace").strip())
        here, there = urlsplit(url), urlsplit(endpoint)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            reason = f"wants messages to be sent to another server, `{there.scheme}://{there.hostname}`"
            raise HttpFaultError(Fault(kind="protocol", reason=reason, permanent=True))
        return endpoint

    async def _pass(self, admitted: list[AdmittedMessage]) -> None:
        """Send what the pending requests make of an event to the session, and end the POSTs that it answers."""
        for one in admitted:
            settled = [one]
            if one.max_elements is not None:
                settled = self._pending.settle(one.line, await read_aside(one.line, one.max_elements))
            for whole in settled:
                self._pending.note(whole)
                item = self._pending.read(whole)
                if item is None:
                    continue
                if isinstance(item.message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)):
                    self._end_post(item.message.id)
                await self._to_session.send(item)

    def _end_post(self, request: RequestId | None) -> None:
        scope = None if request is None else self._posts.pop(coerce_request_id(request), None)
        if scope is not None:
            scope.cancel()

    def _error(self, request: RequestId, _: int, fault: LineFault) -> mcp_types.JSONRPCError:
        return self._failed(request, Fault(kind=fault.kind, reason=f"answered with {fault.reason}"))

    def _failed(self, request: RequestId, fault: Fault) -> mcp_types.JSONRPCError:
        return mcp_types.JSONRPCError.model_validate(self._state.error(request, fault))

    async def _write(self, endpoint: str, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with anyio.create_task_group() as posts:
            async for item in from_session:
                message = item.message
                self._pending.note_sent(message)
                if isinstance(message, mcp_types.JSONRPCRequest):
                    scope = self._posts[coerce_request_id(message.id)] = anyio.CancelScope()
                    posts.start_soon(self._ask, endpoint, message, scope)
                elif isinstance(message, mcp_types.JSONRPCNotification) and message.method.endswith("/initialized"):
                    await self._notify(endpoint, message)  # before any other message
                else:
                    if isinstance(message, mcp_types.JSONRPCNotification):
                        self._end_post(cancelled_id(message))
                    posts.start_soon(self._notify, endpoint, message)

    async def _ask(self, endpoint: str, message: mcp_types.JSONRPCRequest, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self._post(endpoint, message)
            except HttpFaultError as error:
                fault = error.fault
            except Exception as error:  # noqa: BLE001  # any failure of network, HTTP or an auth fails only this request
                fault = self._state.of_exception(error)
            else:
                return
            self._posts.pop(coerce_request_id(message.id), None)
            if self._pending.requests.pop(coerce_request_id(message.id), None) is not None:
                with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await self._to_session.send(SessionMessage(self._failed(message.id, fault)))

    async def _notify(self, endpoint: str, message: mcp_types.JSONRPCMessage) -> None:
        """Send a message that gets no answer. A failure shows at the next message that gets one."""
        with contextlib.suppress(Exception):  # any outcome is fine
            async with asyncio.timeout(NOTICE_S):
                await self._post(endpoint, message)

    async def _post(self, endpoint: str, message: mcp_types.JSONRPCMessage) -> None:
        wire: Any = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        async with stream_within_origin(self._client, "POST", endpoint, json=wire) as response:
            await self._expect_success(response, in_session=True)
            with contextlib.suppress(httpx2.HTTPError):  # the answer comes on the stream
                await response.aread()
