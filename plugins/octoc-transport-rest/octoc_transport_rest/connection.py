"""One connection to a REST tool server: an HTTP client with a pool of sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import attrs
import httpx2

from octoc.plugin import (
    ConnectFailedError,
    Connection,
    ContentPart,
    FailureKind,
    ServerListing,
    ServerTarget,
    ToolCall,
    ToolFailure,
    ToolResult,
)
from octoc.plugin.toolkit import LARGE_BYTES, MAX_ELEMENTS, MAX_LISTING_ELEMENTS, because, origin
from octoc_transport_rest.body import Body, BrokenBodyError, read_body
from octoc_transport_rest.endpoint import Endpoint, caller_headers, endpoint_of
from octoc_transport_rest.faults import (
    RestError,
    of_exception,
    one_line,
    secrets_of,
    wait_s,
    without_secrets,
)
from octoc_transport_rest.listing import tools_of
from octoc_transport_rest.protocol import (
    JSON_TYPE,
    LEFT_OUT,
    MAX_BODY_BYTES,
    PROTOCOL,
    TOOL_NAME,
    TooManyElementsError,
    media_type,
    parse_json,
)

log = logging.getLogger(__name__)

HEALTH_S = 2.0
"""How long a server may take to answer about its health after it got the request."""
CLOSE_S = 5.0
UNAUTHORIZED, FORBIDDEN, SERVICE_UNAVAILABLE = 401, 403, 503
_WAITING = frozenset({429, SERVICE_UNAVAILABLE})
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escaped surrogate; the other half of its pair may follow."""
# Common servers close a connection that was idle for 5 s: a call that is sent at that moment would be lost.
LIMITS = httpx2.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=3.0)


async def open_connection(target: ServerTarget) -> Connection:
    """Connect to `target` within its time-out: any answer to a request for its health is enough, except 503.

    Raises: ConnectFailedError, after stopping all that it started.
    """
    endpoint = endpoint_of(target)
    # Reading the certificates takes time: in a thread, so that it does not block the host's loop.
    client = await asyncio.to_thread(_client, endpoint)
    connection = RestConnection(target, endpoint, client)
    try:
        await connection.probe()
    except BaseException:
        await connection.close()
        raise
    return connection


def _client(endpoint: Endpoint) -> httpx2.AsyncClient:
    plain = endpoint.base.startswith("http://")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context()
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    return httpx2.AsyncClient(
        headers=dict(endpoint.headers),
        verify=tls,
        timeout=None,  # each request has a limit on its whole time
        limits=LIMITS,
        follow_redirects=False,
        # A proxy would see requests to this machine in plain text.
        trust_env=not endpoint.loopback,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


@attrs.frozen(kw_only=True)
class RestResponse:
    """A response, read up to the limit. `kind` is its media type."""

    status: int
    kind: str
    body: Body
    retry_after: str | None

    @property
    def kind_shown(self) -> str:
        """The media type for messages."""
        return f"`{self.kind}`" if self.kind else "no content type"

    def json(self) -> Any:
        """Return the value of a short JSON body; None for a long, incomplete or other body."""
        if (
            self.body.cut
            or len(self.body.data) > LARGE_BYTES
            or not (self.kind == JSON_TYPE or self.kind.endswith("+json"))
        ):
            return None
        try:
            return parse_json(self.body.data)
        except ValueError:
            return None


class RestConnection:
    """A `Connection`. It is alive until it is closed, since the server may be back at the next request."""

    def __init__(self, target: ServerTarget, endpoint: Endpoint, client: httpx2.AsyncClient) -> None:
        self._target = target
        self._endpoint = endpoint
        self._client = client
        self._secrets = secrets_of(target)
        self._max_body = MAX_BODY_BYTES if target.max_body_bytes is None else target.max_body_bytes
        self._server_info: dict[str, Any] = {}
        self._limits: set[asyncio.Timeout] = set()
        self._closed = False
        self._renewing = asyncio.Lock()

    @property
    def alive(self) -> bool:
        """False once the connection is closed."""
        return not self._closed

    def _fault(self, kind: FailureKind, text: str, wait_s: float | None = None, **more: bool) -> RestError:
        """Return a fault whose message is the server's name and `text`, on one line and without secrets."""
        return RestError(kind, one_line(f"`{self._target.name}` {text}", self._secrets), wait_s, **more)

    async def probe(self) -> None:
        """Ask for the server's health; a failure other than 503 is ignored.

        Raises: ConnectFailedError, if it cannot ask or the server reports by 503 that it is down.
        """
        loop = asyncio.get_running_loop()

        def taken() -> None:
            if not limit.expired():
                limit.reschedule(min(limit.when() or 0.0, loop.time() + HEALTH_S))

        request = _Request("GET", "/health", taken=taken)
        try:
            async with asyncio.timeout(self._target.timeout_s) as limit:
                answer = await self._send(request)
        except TimeoutError:
            if not request.sent:
                late = f"`{origin(self._endpoint.base)}` did not answer within {self._target.timeout_s:g} s"
                raise ConnectFailedError(one_line(late, self._secrets), kind="timeout") from None
            log.debug("`%s` did not report its health in time", self._target.name)
        except RestError as fault:
            if fault.kind == "connect_failed":
                raise fault.failed() from None
            log.debug("%s", fault)
        else:
            if answer.status == SERVICE_UNAVAILABLE:
                raise self._refused(answer, "`/health`").failed()
            health = answer.json() if answer.status == 200 else None
            version = health.get("version") if isinstance(health, dict) else None
            if isinstance(version, str):
                self._server_info = {"version": one_line(version, self._secrets)}

    async def list_tools(self) -> ServerListing:
        """Return the server's tools that follow the protocol's rules. Raises: ConnectFailedError."""
        name = self._target.name
        try:
            async with self._within(self._target.timeout_s, "list its tools"):
                answer = await self._send(_Request("GET", "/tools"))
            self._expect_success(answer, "the list of its tools")
            if answer.body.cut:
                raise RestError(
                    "too_large", f"the list of tools of `{name}` is longer than {len(answer.body.data)} bytes"
                )
            descriptors = await self._parsed(answer, "the list of its tools", MAX_LISTING_ELEMENTS)
            if not isinstance(descriptors, list):
                raise self._fault("protocol", "lists its tools in something other than a JSON array")
            listed = tools_of(name, descriptors, self._secrets)
        except RestError as fault:
            raise fault.failed() from None
        except RecursionError:
            raise ConnectFailedError(f"`{name}` lists its tools in too deep a JSON value", kind="protocol") from None
        info = {**self._server_info, LEFT_OUT: listed.more} if listed.more else self._server_info
        return ServerListing(
            server_info=info,
            protocol_version=PROTOCOL,
            instructions=None,
            tools=listed.tools,
            left_out=listed.left_out,
        )

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Call a tool. Never raises for a failure of server, tool or connection; cancellation passes through."""
        request = _Request("POST", f"/tool/{call.tool}/call")
        try:
            # This also keeps a name from being a path.
            if not TOOL_NAME.fullmatch(call.tool):
                raise self._fault("not_found", f"has no tool `{call.tool}`")
            request.content, request.headers = _content(call), _headers(call)
            async with self._within(call.timeout_s, f"answer `{call.tool}`", call.told_limit_s):
                answer = await self._send(request)
                return await self._result(answer, call.tool)
        except RestError as fault:
            return fault.failure(sent=request.sent)
        except RecursionError:
            deep = self._fault("protocol", f"answered `{call.tool}` with too deep a JSON value")
            return deep.failure(sent=request.sent)

    async def _result(self, answer: RestResponse, tool: str) -> ToolResult:
        """Return the tool's answer, or its own error. Raises: RestError, for a fault of the server."""
        if answer.status >= 400 and answer.status != UNAUTHORIZED:
            error = without_secrets(answer.json(), self._secrets)
            waits = answer.status in _WAITING and wait_s(answer.retry_after, error) is not None
            if not waits and isinstance(error, dict) and isinstance(error.get("message"), str) and error["message"]:
                part = ContentPart(type="text", text=error["message"])
                return ToolResult(content=(part,), structured=error, is_error=True)
        what = f"`{tool}`"
        self._expect_success(answer, what)
        if answer.body.cut:
            text, truncation = answer.body.text()
            return ToolResult(content=(ContentPart(type="text", text=text),), truncations=(truncation,))
        value = await self._parsed(answer, what, MAX_ELEMENTS)
        return ToolResult(
            content=(ContentPart(type="text", text=answer.body.data.decode("utf-8")),),
            structured=value if isinstance(value, (dict, list)) else None,
        )

    def _expect_success(self, answer: RestResponse, what: str) -> None:
        """Check that an answer is 200 with JSON. Raises: RestError."""
        if answer.status != 200:
            raise self._refused(answer, what)
        if answer.kind != JSON_TYPE:
            raise self._fault("protocol", f"answered {what} with {answer.kind_shown} where `{JSON_TYPE}` was expected")

    def _refused(self, answer: RestResponse, what: str) -> RestError:
        body = answer.json()
        said = body.get("message") if isinstance(body, dict) else None
        if 300 <= answer.status < 400:
            more = ": it redirects, which is not followed"
        elif isinstance(said, str) and said:
            more = f": {said}"
        else:
            more = f" and {answer.kind_shown}"
        text = f"answered {what} with HTTP {answer.status}{more}"
        if answer.status in {UNAUTHORIZED, FORBIDDEN}:
            # A known client without the permission does not need to log in again.
            step = "its credentials may not do this" if answer.status == FORBIDDEN else self._target.login
            text = f"{text.rstrip('.')}: {step}" if step else text
            return self._fault("unauthorized", text, permanent=True, refused=True)
        if answer.status in _WAITING:
            return self._fault("unavailable", text, wait_s(answer.retry_after, body), refused=True)
        return self._fault("not_found" if answer.status == 404 else "protocol", text)

    async def _parsed(self, answer: RestResponse, what: str, most: int) -> Any:
        """Return the body's value, parsed in a thread if it is long. Raises: RestError."""
        data = answer.body.data
        most = self._target.max_elements or most
        try:
            return _value_in(data, most) if len(data) <= LARGE_BYTES else await asyncio.to_thread(_value_in, data, most)
        except TooManyElementsError as error:
            raise self._fault("too_large", f"answered {what} with {error}, which is over the limit") from None
        except ValueError as error:
            raise self._fault("protocol", f"answered {what} with something that is not JSON: {error}") from None

    @contextlib.asynccontextmanager
    async def _within(self, seconds: float, verb: str, whole: float | None = None) -> AsyncIterator[None]:
        """Limit the block to `seconds`, and end it when the connection is closed. Raises: RestError.

        `whole` is the limit for the message, if `seconds` are only its rest.
        """
        name = self._target.name
        closed = RestError("connection_lost", f"the connection to `{name}` is closed")
        if self._closed:
            raise closed
        try:
            async with asyncio.timeout(seconds) as limit:
                self._limits.add(limit)
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except (TimeoutError, RestError) as error:
            if self._closed:
                raise closed from None
            if isinstance(error, RestError):
                raise
            raise RestError(
                "timeout", f"`{name}` did not {verb} within {seconds if whole is None else whole:g} s"
            ) from None

    async def _send(self, request: _Request) -> RestResponse:
        """Send a request and read its answer, without a time limit.

        After a 401, which means that the request was not executed, send it again if the credentials have changed.

        Raises: RestError.
        """
        used = self._endpoint
        answer = await self._send_once(request)
        if answer.status == UNAUTHORIZED and await self._renewed(used):
            answer = await self._send_once(request)
        return answer

    async def _renewed(self, used: Endpoint) -> bool:
        """Resolve the references again; return whether their values differ from those in `used`."""
        async with self._renewing:
            if self._endpoint is not used:
                return True  # another call resolved them meanwhile
            fresh = None if self._target.renew is None else await self._target.renew()
            if fresh is None:
                return False
            try:
                endpoint = endpoint_of(fresh)
            except ConnectFailedError as error:
                log.warning("%s", error)
                return False
            if endpoint.base != used.base or endpoint.headers == used.headers:
                return False
            self._endpoint = endpoint
            self._secrets = tuple(dict.fromkeys((*secrets_of(fresh), *self._secrets)))
            self._client.headers.update(endpoint.headers)
            return True

    async def _send_once(self, request: _Request) -> RestResponse:
        try:
            async with self._client.stream(
                request.method,
                self._endpoint.base + request.path,
                content=request.content,
                headers=request.headers,
                extensions={"trace": request.trace},
            ) as response:
                return RestResponse(
                    status=response.status_code,
                    kind=media_type(response.headers.get("Content-Type", "")),
                    body=await read_body(response, self._max_body),
                    retry_after=response.headers.get("Retry-After"),
                )
        except BrokenBodyError as error:
            raise self._fault("protocol", f"answered with {error}") from None
        except Exception as error:  # noqa: BLE001  # the contract: each failure is a value
            raise of_exception(error, self._target, self._secrets) from None
        finally:
            await request.abandon()

    async def close(self) -> None:
        """End the connection and all running calls. Idempotent, and limited in time."""
        if self._closed:
            return
        self._closed = True
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(now)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._client.aclose()


@attrs.define(eq=False)
class _Request:
    """A request and its progress.

    Once a connection exists, `taken` is called, and `sent` is true: the server may get the request. Before that,
    `abandon` closes its socket, which httpcore2 leaves open when a handshake is cancelled.
    """

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict)
    taken: Callable[[], None] | None = None
    sent: bool = False
    _stream: Any = None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note how far a request has come, as httpcore2 traces it."""
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event == "http11.send_request_headers.started":
            self._stream = None
            self.sent = True
            if self.taken is not None:
                self.taken()

    async def abandon(self) -> None:
        """Close the socket, unless the request has been sent over it."""
        if self._stream is not None:
            await self._stream.aclose()


def _value_in(data: bytes, max_elements: int) -> Any:
    value = parse_json(data, max_elements)
    # A lone surrogate, which UTF-8 has no form for, is replaced.
    return without_secrets(value, ()) if _HALF.search(data) else value


def _headers(call: ToolCall) -> dict[str, str]:
    try:
        return {"Content-Type": JSON_TYPE, **caller_headers(call.caller)}
    except ValueError as error:
        raise RestError("bad_request", f"`{call.tool}` cannot be called: {error}") from None


def _content(call: ToolCall) -> bytes:
    try:
        return json.dumps(dict(call.arguments), allow_nan=False).encode("ascii")
    except RecursionError:
        raise RestError("bad_request", f"the arguments of `{call.tool}` are nested too deep for JSON") from None
    except (TypeError, ValueError) as error:
        message = f"the arguments of `{call.tool}` cannot be written as JSON{because(error)}"
        raise RestError("bad_request", message) from None
