"""The HTTP client for the SDK. Whatever a server answers, the SDK gets a response that it understands.

The SDK ends the whole session when one response breaks, and reports no status. Here octoc answers a request that got no
answer of the protocol: with a JSON-RPC error, which carries the fault to the request's own call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any

import anyio
import attrs
import httpx2
import mcp_types
from mcp.shared.dispatcher import coerce_request_id
from mcp_types import RequestId

from octoc_transport_mcp.http_bounds import EVENT_STREAM, BodyTooLargeError, media_type
from octoc_transport_mcp.http_events import DroppedEvent, EventCutter, parse_event
from octoc_transport_mcp.http_faults import Fault, HttpFaultError, HttpState, json_of
from octoc_transport_mcp.lone_surrogates import without_lone_surrogates
from octoc_transport_mcp.messages import ElementLimits, ReadResult, read_aside
from octoc_transport_mcp.pending_requests import is_log
from octoc_transport_mcp.redirects import next_within_origin

NOTICE_S = 5.0
"""How long a server may take to accept a message without an answer."""
FAREWELL_S = 1.0
"""How long the end of the session may take to reach the server."""
GET_PAUSE_S = 0.2
"""Shortest time between two GET requests, which open or resume a stream of the server's own messages."""
MAX_COOKIES = 50
_SESSION = "mcp-session-id"
_LAST_EVENT = "last-event-id"
_DISCOVER = "server/discover"
_HEADERS = {"accept": f"application/json, {EVENT_STREAM}", "content-type": "application/json"}
_FATAL = frozenset({"unauthorized", "unavailable"})
GONE = Fault(kind="cancelled", reason="was not waited for any longer")
SILENT = Fault(kind="connection_lost", reason="ended its stream of events without an answer")
FOREIGN = Fault(kind="protocol", reason="answered with the answer to another request")

Answer = mcp_types.JSONRPCResponse | mcp_types.JSONRPCError


@attrs.define(eq=False)
class Exchange:
    """A running request, up to the end of its answer. Cancelling `scope` ends its current read.

    `direct` is true for a request that the SDK did not send; `answer` is the message in its body.
    """

    request_id: RequestId
    method: str
    in_session: bool
    direct: bool = False
    answer: Answer | None = None
    scope: anyio.CancelScope | None = None
    gone: bool = False

    def abandon(self) -> None:
        """End it: its caller is gone."""
        self.gone = True
        if self.scope is not None:
            self.scope.cancel()


class GuardedClient(httpx2.AsyncClient):
    """An HTTP client that answers each MCP request with a response that the SDK understands."""

    def __init__(self, state: HttpState, max_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self.state = state
        self.max_bytes = max_bytes
        self.elements = ElementLimits.of(state.target)
        self._exchanges: dict[RequestId, Exchange] = {}
        self._by_task: dict[asyncio.Task[Any], Exchange] = {}
        self._notices: set[asyncio.Task[None]] = set()
        self._next_get = 0.0
        self._parked: dict[RequestId, httpx2.Response] = {}
        self.session: str | None = None
        """The session's id in the SDK's last request."""
        self.direct = True
        """Whether to use `call`; false once a request was redirected."""

    async def call(
        self, url: httpx2.URL, method: str, request_id: RequestId, message: bytes, headers: Mapping[str, str]
    ) -> Answer | None:
        """Send a request without the SDK, and return its answer, which may be an error with a fault.

        Return None if the answer is more than one message, or needs the SDK. The SDK then sends the request with the
        same id and gets the response that has arrived; only after a redirect the request is sent again.
        """
        exchange = Exchange(request_id, method, self.session is not None, direct=True)
        session = {} if self.session is None else {_SESSION: self.session}
        request = self.build_request("POST", url, content=message, headers={**_HEADERS, **session, **headers})
        response = await self._ask(exchange, request, {"stream": True})
        parked = False
        try:
            if response.has_redirect_location:
                self.direct = False
                return None
            answer = exchange.answer
            if isinstance(response.stream, _Events):
                answer = answer_in(await response.stream.first(), request_id)
            elif answer is None:
                answer = answer_in(await read_aside(await response.aread(), self.limit_of(exchange)), request_id)
            if answer is None:
                self._parked[request_id] = response
                parked = True
            return answer
        finally:
            if not parked:
                await response.aclose()

    async def forget(self, request_id: RequestId) -> None:
        """Close the response to a request, if it is still kept for the SDK."""
        await _shut(self._parked.pop(request_id, None))

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send a request of the SDK. Raises: HttpFaultError, if another attempt to connect would fail too."""
        options["stream"] = True
        if len(self.cookies.jar) > MAX_COOKIES:
            self.cookies.clear()
        if request.method == "DELETE":
            return await self._farewell(request, options)
        if request.method == "GET":
            return await self._listen(request, options)
        message = json.loads(await request.aread())  # a request that follows a redirect has not read its own body
        method, request_id = message.get("method"), message.get("id")
        self.session = request.headers.get(_SESSION)
        if method is None or request_id is None:
            return await self._notify(request, message, options)
        exchange = Exchange(request_id, method, _SESSION in request.headers)
        self._open(exchange)
        if (parked := self._parked.pop(request_id, None)) is not None:
            if isinstance(parked.stream, _Events):
                parked.stream.go_on(exchange)
            return parked
        try:
            with anyio.CancelScope() as exchange.scope:
                return await self._ask(exchange, request, options)
            return self._instead(exchange, request, GONE)
        finally:
            exchange.scope = None

    def _open(self, exchange: Exchange) -> None:
        """Keep the exchange as long as the SDK's task for it lives."""
        key, task = coerce_request_id(exchange.request_id), asyncio.current_task()
        if task is None:
            return
        self._exchanges[key] = self._by_task[task] = exchange

        def forget(done: asyncio.Task[Any]) -> None:
            self._by_task.pop(done, None)
            if self._exchanges.get(key) is exchange:
                del self._exchanges[key]

        task.add_done_callback(forget)

    async def _ask(self, exchange: Exchange, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        response: httpx2.Response | None = None
        try:
            response = await super().send(request, **options)
            answer = await self._answer(exchange, response)
        except HttpFaultError as error:
            fault = error.fault
        except Exception as error:  # noqa: BLE001  # any failure of network, HTTP or an auth fails only this request
            fault = self.state.of_exception(error)
        except BaseException:
            await _shut(response)
            raise
        else:
            return answer
        await _shut(response)
        if exchange.method == _DISCOVER and (fault.kind in _FATAL or fault.lost):
            raise HttpFaultError(fault)  # a request of another era would fail in the same way
        return self._instead(exchange, request, fault)

    async def _answer(self, exchange: Exchange, response: httpx2.Response) -> httpx2.Response:
        """Return a response that the SDK may read. Raises: HttpFaultError, httpx2.HTTPError."""
        status = response.status_code
        if exchange.direct and response.has_redirect_location:
            return response  # a redirecting server did not begin the call
        if response.next_request is not None:
            if next_within_origin(response) is None:
                raise HttpFaultError(self.state.of_redirect(response))
            return response  # the SDK follows it through this client
        if status >= HTTPStatus.BAD_REQUEST:
            body = await refusal_of(response)
            fault = self.state.of_status(response, body, in_session=exchange.in_session)
            code = _code_of(json_of(response, body))
            if code is not None and (fault.kind == "protocol" or (fault.lost and code == mcp_types.METHOD_NOT_FOUND)):
                return self._as_json(response, body)
            raise HttpFaultError(fault)
        kind = media_type(response.headers)
        if kind == EVENT_STREAM and status == HTTPStatus.OK:
            response.stream = _Events(self, exchange, response)
            return response
        if kind != "application/json" or status != HTTPStatus.OK:
            raise HttpFaultError(self.state.of_content(response))
        body = await response.aread()
        result = await read_aside(body, self.limit_of(exchange))
        if exchange.direct:
            exchange.answer = answer_in(result, exchange.request_id)
            if exchange.answer is not None:
                return response
        broken = fault_in(result, exchange.request_id)
        if broken is not None:
            raise HttpFaultError(broken)
        return response if result.data is body else self._as_json(response, result.data)

    def limit_of(self, exchange: Exchange | None) -> int:
        """Return the maximum number of JSON elements in an exchange's answer."""
        listing = exchange is not None and exchange.method == "tools/list"
        return self.elements.listing if listing else self.elements.message

    def _instead(self, exchange: Exchange, request: httpx2.Request, fault: Fault) -> httpx2.Response:
        return httpx2.Response(200, json=self.state.error(exchange.request_id, fault), request=request)

    def _as_json(self, response: httpx2.Response, body: bytes) -> httpx2.Response:
        headers = {"content-type": "application/json"}
        if _SESSION in response.headers:
            headers[_SESSION] = response.headers[_SESSION]
        return httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)

    async def _notify(self, request: httpx2.Request, message: Any, options: dict[str, Any]) -> httpx2.Response:
        """Send a message without an answer. The SDK sends nothing else meanwhile, so this must not take long."""
        taken = httpx2.Response(HTTPStatus.ACCEPTED, request=request)
        if message.get("method") == "notifications/cancelled":
            given_up = (message.get("params") or {}).get("requestId")
            exchange = self._exchanges.get(coerce_request_id(given_up)) if isinstance(given_up, (int, str)) else None
            if exchange is not None:
                exchange.abandon()
            notice = asyncio.create_task(self._post(request, options, NOTICE_S))
            self._notices.add(notice)
            notice.add_done_callback(self._notices.discard)
        else:
            await self._post(request, options, NOTICE_S)
        return taken

    async def _farewell(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        if not self.state.lost:
            await self._post(request, options, FAREWELL_S)
        return httpx2.Response(HTTPStatus.NO_CONTENT, request=request)

    async def _post(self, request: httpx2.Request, options: dict[str, Any], seconds: float) -> None:
        """Send a request and ignore its outcome: a lasting failure shows at the next request with an answer."""
        response = None
        with contextlib.suppress(Exception):  # any outcome is fine
            async with asyncio.timeout(seconds):
                try:
                    response = await super().send(request, **options)
                finally:
                    await _shut(response)

    async def _listen(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        """Open the stream of the server's own messages, or resume a broken stream, whose exchange runs in this task."""
        loop = asyncio.get_running_loop()
        wait, self._next_get = self._next_get - loop.time(), max(self._next_get, loop.time()) + GET_PAUSE_S
        if wait > 0:
            await asyncio.sleep(wait)
        task = asyncio.current_task()
        exchange = self._by_task.get(task) if task is not None and _LAST_EVENT in request.headers else None
        if self.state.lost or (exchange is not None and exchange.gone):
            raise httpx2.ReadError("the call has no caller", request=request)
        response = await super().send(request, **options)
        response.stream = _Events(self, exchange, response)
        return response

    async def __aexit__(self, *exc: Any) -> None:  # noqa: PYI036  # as the client declares them
        """Cancel the messages without an answer that are still being sent, and close the client."""
        for notice in self._notices:
            notice.cancel()
        await asyncio.gather(*self._notices, return_exceptions=True)
        await super().__aexit__(*exc)


class _Events(httpx2.AsyncByteStream):
    """A stream of complete events. If it breaks, it ends with an error in place of the answer."""

    def __init__(self, client: GuardedClient, exchange: Exchange | None, response: httpx2.Response) -> None:
        self._client = client
        self._exchange = exchange
        self._raw: Any = response.stream
        self._cutter = EventCutter(client.max_bytes)
        self._begun: bytes | None = None
        self._last = ReadResult(data=b"")
        self._events = self._whole()

    async def first(self) -> ReadResult:
        """Return the message in the first event, if it has one. The iteration yields the event again."""
        self._begun = await anext(self._events, None)
        event = None if self._begun is None else parse_event(self._begun)
        return self._last if event is not None and event.name == "message" else ReadResult(data=b"")

    def go_on(self, exchange: Exchange) -> None:
        """Read the rest in another exchange than the first event."""
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._begun is not None:
            yield self._begun
        async for event in self._events:
            yield event

    async def _whole(self) -> AsyncIterator[bytes]:
        exchange, resumable = self._exchange, False
        fault = SILENT
        try:
            pieces = self._raw.__aiter__()
            while (piece := await self._next(pieces)) is not None:
                for cut in self._cutter.feed(piece):
                    event, broken = await self._readable(cut)
                    if broken is not None and exchange is not None:
                        raise HttpFaultError(broken)
                    if broken is not None or event is None:
                        continue  # skip a broken message that answers no request
                    if self._is_foreign(self._last.message):
                        fault = FOREIGN
                        continue
                    resumable = resumable or (exchange is not None and parse_event(event).resumable)
                    yield event
            exchange = self._exchange
            if exchange is None or (resumable and not exchange.gone):
                return
        except HttpFaultError as error:
            fault, resumable = error.fault, False
        except httpx2.HTTPError as error:
            fault = self._client.state.of_exception(error)
        exchange = self._exchange
        if exchange is None or resumable:
            raise httpx2.ReadError("the stream of events has broken")
        instead = self._client.state.error(exchange.request_id, GONE if exchange.gone else fault)
        yield b"event: message\ndata: " + json.dumps(instead).encode("ascii") + b"\n\n"

    def _is_foreign(self, message: mcp_types.JSONRPCMessage | None) -> bool:
        """Return whether a message answers another request than the stream's own; note it if it is a question.

        The SDK takes any answer on a request's stream as the answer to that request, whatever its id. The stream
        without a request may have no answers at all.
        """
        carrier = None if self._exchange is None else self._exchange.request_id
        if isinstance(message, mcp_types.JSONRPCRequest):
            if self._client.state.claims is not None:
                self._client.state.claims.note_question(message.id, message.method, carrier, ordered=False)
            return False
        if isinstance(message, mcp_types.JSONRPCNotification):
            if is_log(message) and self._client.state.claims is not None:
                self._client.state.claims.logs.hear(message.params, carrier)
            return False
        if not isinstance(message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)) or message.id is None:
            return False
        return carrier is None or coerce_request_id(message.id) != coerce_request_id(carrier)

    async def _readable(self, event: bytes | DroppedEvent) -> tuple[bytes | None, Fault | None]:
        """Return an event in a form that the SDK can read, or the fault if there is none."""
        if isinstance(event, DroppedEvent):
            reason = f"answered with an event of more than {self._client.max_bytes} bytes"
            return None, Fault(kind="too_large", reason=reason)
        whole = parse_event(event)
        if whole.name != "message" or not whole.data:
            self._last = ReadResult(data=b"")
            return event, None
        self._last = result = await read_aside(whole.data, self._client.limit_of(self._exchange))
        broken = fault_in(result)
        if broken is not None:
            return None, broken
        return (event if result.data is whole.data else without_lone_surrogates(event) or event), None

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        exchange = self._exchange
        if exchange is None:
            return await anext(pieces, None)
        if exchange.gone:
            return None
        piece = None
        with anyio.CancelScope() as exchange.scope:
            piece = await anext(pieces, None)
        exchange.scope = None
        return piece

    async def aclose(self) -> None:
        await self._raw.aclose()


def answer_in(result: ReadResult, request_id: RequestId) -> Answer | None:
    """Return the answer to `request_id`, or None if another message was read."""
    message = result.message
    if not isinstance(message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)) or message.id is None:
        return None
    return message if coerce_request_id(message.id) == coerce_request_id(request_id) else None


def fault_in(result: ReadResult, request_id: RequestId | None = None) -> Fault | None:
    """Return the fault of bytes that are not a message, or not the answer to `request_id`; None if they are."""
    if result.fault is not None:
        return Fault(kind=result.fault.kind, reason=f"answered with {result.fault.reason}")
    reason = None if request_id is None else _unfit(result.message, request_id)
    return None if reason is None else Fault(kind="protocol", reason=f"answered with {reason}")


def _unfit(message: mcp_types.JSONRPCMessage | None, request_id: RequestId) -> str | None:
    if not isinstance(message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)):
        return "a message that is not an answer"
    answered = message.id
    if answered is None:  # only an error may have no id
        return f"an error without an id: {getattr(getattr(message, 'error', None), 'message', '')}"
    if coerce_request_id(answered) != coerce_request_id(request_id):
        return "the answer to another request"
    return None


async def refusal_of(response: httpx2.Response) -> bytes:
    """Return the body of a refusal, or nothing if it does not arrive in time: the status is enough."""
    try:
        async with asyncio.timeout(NOTICE_S):
            return await response.aread()
    except (httpx2.HTTPError, TimeoutError, BodyTooLargeError):
        return b""
    finally:
        await response.aclose()


def _code_of(value: Any) -> int | None:
    error = value.get("error") if isinstance(value, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


async def _shut(response: httpx2.Response | None) -> None:
    if response is not None:
        await response.aclose()
