"""How a request of the handshake era is answered: as one JSON body, where nothing has to be said before the answer.

The SDK answers each as a stream of events, with tasks and memory streams of its own, which is much of what a call costs
in the gateway. A stream is needed only where something comes before the answer (progress, a question to the client, a
notification), or where the answer takes long and the connection must not fall silent. Until then nothing is sent here.
Source: MCP 2025-11-25, Streamable HTTP, "Sending Messages to the Server", 5.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.streamable_http import (
    MCP_SESSION_ID_HEADER,
    REQUEST_STREAM_BUFFER_SIZE,
    EventMessage,
    StreamableHTTPServerTransport,
    check_accept_headers,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from sse_starlette import EventSourceResponse

if TYPE_CHECKING:
    from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

SILENT_S = 1.0
"""How long an answer is waited for before its stream begins, which is kept alive by comments."""


USED = (
    "_check_content_type", "_create_error_response", "_create_event_data", "_create_json_response",
    "_create_session_message", "_handle_post_request", "_read_stream_writer", "_request_streams", "_run_sse_writer",
    "_sse_stream_writers",
)  # fmt: skip
"""What of the SDK's transport is used here that it does not promise to keep. A release without it answers by itself."""

USED_OF_MANAGER = "_server_instances"
"""The same, of the SDK's manager of sessions. One without `_admit_session` never comes here."""


class AnsweringManager(StreamableHTTPSessionManager):
    """The SDK's, with `AnsweringTransport` for each session."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        admitted = super()._admit_session(requestor)
        if admitted is None or admitted.mcp_session_id is None or not self._knows(admitted):
            return admitted
        transport = AnsweringTransport(admitted.mcp_session_id, idle_timeout=self.session_idle_timeout)
        self._server_instances[admitted.mcp_session_id] = transport
        return transport

    def _knows(self, admitted: StreamableHTTPServerTransport) -> bool:
        return hasattr(self, USED_OF_MANAGER) and all(hasattr(admitted, name) for name in USED)


class AnsweringTransport(StreamableHTTPServerTransport):
    """One session: the SDK's, but for how it answers a request. All other messages are the SDK's business."""

    async def _handle_post_request(self, scope: Scope, request: Request, receive: Receive, send: Send) -> None:
        message = await self._asked(request)
        writer = self._read_stream_writer
        key = "" if message is None else str(message.id)
        if message is None or writer is None or key in self._request_streams:
            await super()._handle_post_request(scope, request, receive, send)
            return
        sink, events = anyio.create_memory_object_stream[EventMessage](REQUEST_STREAM_BUFFER_SIZE)
        self._request_streams[key] = (sink, events)
        try:
            version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, types.DEFAULT_NEGOTIATED_VERSION)
            try:
                await writer.send(self._create_session_message(message, request, key, version))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                gone = self._create_error_response("Not Found: Session has been terminated", HTTPStatus.NOT_FOUND)
                await gone(scope, receive, send)
                return
            first = None
            try:
                with anyio.move_on_after(SILENT_S):
                    first = await events.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                pass  # the session has ended: so does the stream, without an answer
            if first is not None and isinstance(first.message, types.JSONRPCResponse | types.JSONRPCError):
                await self._create_json_response(first.message)(scope, receive, send)
            else:
                await self._stream(key, first, scope, receive, send)
        finally:
            # By identity: a client may use an id again before this is over.
            if self._request_streams.get(key) == (sink, events):
                del self._request_streams[key]
            sink.close()
            events.close()

    async def _asked(self, request: Request) -> types.JSONRPCRequest | None:
        """Return the request that a POST brings; None where it is another message, or something is wrong with it."""
        if not all(check_accept_headers(request)) or not self._check_content_type(request):
            return None
        if request.headers.get(MCP_SESSION_ID_HEADER) != self.mcp_session_id:
            return None  # what opens a session has none yet
        try:
            body = await request.body()
            message = types.jsonrpc_message_adapter.validate_json(body, by_name=False)
        except Exception:  # noqa: BLE001  # the SDK comes to the same, and has the words for it
            return None
        return message if isinstance(message, types.JSONRPCRequest) and message.method != "initialize" else None

    async def _stream(self, key: str, first: EventMessage | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by a stream of events, as the SDK does, that begins with what there is already."""
        writer, reader = anyio.create_memory_object_stream[dict[str, Any]](0)
        self._sse_stream_writers[key] = writer
        begun = None if first is None else self._create_event_data(first)
        streams = self._request_streams.get(key)
        headers = {"Cache-Control": "no-cache, no-transform", "Connection": "keep-alive"}
        if self.mcp_session_id:
            headers[MCP_SESSION_ID_HEADER] = self.mcp_session_id

        async def forward() -> None:
            if streams is None:
                writer.close()
            else:
                await self._run_sse_writer(key, writer, streams[1], begun)

        try:
            response = EventSourceResponse(content=reader, data_sender_callable=forward, headers=headers)
            await response(scope, receive, send)
        finally:
            writer.close()
            reader.close()
