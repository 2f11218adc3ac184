"""Calls over Streamable HTTP without the SDK's streams and tasks, which cost more than the request itself.

The SDK's session still makes the request and its headers, and checks the result; `http_client` makes the errors. Here a
call is one POST with one message as its answer. If the answer is more than that (progress, a question, a stream to
resume), the SDK gets it and continues.

Lists of tools are sent this way too: the SDK would parse an answer of megabytes on the event loop.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp_types
from mcp.shared.exceptions import MCPError
from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, StatusCode, get_tracer

from octoc_transport_mcp.claims import FIRST_ID
from octoc_transport_mcp.outbound import Sender, sent_through

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import CallOptions, Outbound
    from mcp_types import RequestId

    from octoc_transport_mcp.http_client import Answer, GuardedClient
    from octoc_transport_mcp.http_faults import HttpState

METHODS = frozenset({"tools/call", "tools/list"})
CANCEL_S = 5.0
"""How long the cancellation notice of a call may take; as long as the SDK's."""
_TRACER = get_tracer("mcp-python-sdk")
"""Tracer under the SDK's name: a call has the span that the SDK would give it."""


@contextlib.contextmanager
def direct_calls(session: ClientSession, state: HttpState) -> Iterator[None]:
    """Send the calls of a session over Streamable HTTP directly until the block ends, and then cancel running ones."""
    client = state.client
    if client is None:
        yield
        return
    url = httpx2.URL(state.target.url or "")
    with sent_through(session, lambda inner: DirectCalls(inner, client, url)) as calls:
        try:
            yield
        finally:
            if calls is not None:
                calls.close()


class DirectCalls(Sender):
    """Sends each request of `METHODS` by a POST of its own, and all others through the SDK."""

    def __init__(self, inner: Outbound, client: GuardedClient, url: httpx2.URL) -> None:
        super().__init__(inner)
        self._client = client
        self._url = url
        self._ids = itertools.count(2 * FIRST_ID)  # `claimed_calls` counts from FIRST_ID
        self._scopes: set[anyio.CancelScope] = set()
        self._closed = False

    def close(self) -> None:
        """End all calls: the session is over."""
        self._closed = True
        for scope in self._scopes:
            scope.cancel()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises: MCPError."""
        opts = opts or {}
        # A direct call supports only headers and the id; the SDK handles other options, as progress or a time limit.
        if method not in METHODS or opts.keys() - {"headers", "request_id"} or self._closed or not self._client.direct:
            return await self._inner.send_raw_request(method, params, opts)
        request_id = opts.get("request_id") or next(self._ids)
        try:
            answer = await self._call(method, request_id, dict(params or {}), opts.get("headers") or {})
            if answer is None:
                return await self._inner.send_raw_request(method, params, {**opts, "request_id": request_id})
        finally:
            await self._client.forget(request_id)
        if isinstance(answer, mcp_types.JSONRPCError):
            raise MCPError(code=answer.error.code, message=answer.error.message, data=answer.error.data)
        return answer.result

    async def _call(
        self, method: str, request_id: RequestId, params: dict[str, Any], headers: Mapping[str, str]
    ) -> Answer | None:
        meta = dict(params.pop("_meta", None) or {})
        attributes = {"mcp.method.name": method, "jsonrpc.request.id": str(request_id)}
        answer = None
        name = f"MCP send {method} {params.get('name', '')}".rstrip()
        with _TRACER.start_as_current_span(name, kind=SpanKind.CLIENT, attributes=attributes) as span:
            inject(meta)
            if meta:
                params["_meta"] = meta
            message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            try:
                body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
            except ValueError:
                return None  # the SDK refuses what cannot be written as JSON
            with anyio.CancelScope() as scope:
                self._scopes.add(scope)
                try:
                    answer = await self._client.call(self._url, method, request_id, body, headers)
                except anyio.get_cancelled_exc_class():
                    if not self._closed:
                        await self._give_up(request_id)
                    raise
                finally:
                    self._scopes.discard(scope)
            if scope.cancelled_caught:
                raise MCPError(code=mcp_types.CONNECTION_CLOSED, message="Connection closed")
            if isinstance(answer, mcp_types.JSONRPCError):
                code = str(answer.error.code)
                span.set_attributes({"error.type": code, "rpc.response.status_code": code})
                span.set_status(StatusCode.ERROR, answer.error.message)
        return answer

    async def _give_up(self, request_id: RequestId) -> None:
        """Notify the server that the call was cancelled. In the modern era the end of the POST already does so."""
        with anyio.move_on_after(CANCEL_S, shield=True):
            why = {"requestId": request_id, "reason": "caller cancelled"}
            await self._inner.notify("notifications/cancelled", why)
