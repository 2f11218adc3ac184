"""A host that serves Python functions, or the tools of an agent, by the REST protocol.

It is for tests, and for users who move from one side of the protocol to the other. It speaks plain HTTP: beyond this
machine it needs a TLS proxy in front of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import attrs

from octoc import __version__
from octoc.plugin import Caller, PythonTool
from octoc.plugin.toolkit import CALLER, is_loopback
from octoc_transport_rest.endpoint import CORRELATION, TENANT, USER
from octoc_transport_rest.host_tools import INTERNAL, HostTools, PythonTools, RegistryTools, ToolHost, dump
from octoc_transport_rest.http import MAX_HEAD_BYTES, RefusedError, Request, read_body, read_head, response
from octoc_transport_rest.protocol import JSON_TYPE, TooManyElementsError, media_type, parse_json

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 100
LINGER_S = 1.0
CALL_S = 30.0

_CALL = re.compile(r"/tool/([^/]+)/call")


@attrs.frozen(kw_only=True)
class HostLimits:
    """How long each part of a request may take, in seconds."""

    head_s: float = 30.0
    """From an answer to the end of the next request's head, which also limits an idle connection."""
    body_s: float = 30.0
    call_s: float | None = None
    """None means 30 s for functions, and a registry's own limits for its tools."""
    write_s: float = 30.0


async def serve(
    tools: Iterable[PythonTool] | ToolHost,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    limits: HostLimits | None = None,
    version: str = __version__,
) -> RestHost:
    """Serve `tools` until the host is closed.

    A registry, such as a session of a runtime, is listed again for each request, under names that the protocol allows
    (`protocol_names`). Its calls carry the client's correlation id and user, and the client's tenant if the registry's
    caller has none. A failure is an answer with a status of its own, `error`, `message`, and perhaps `retry_after` and
    `hint`. The host does not close the registry.

    A function returns text, a JSON value or a ToolResult; one with `is_error` becomes 422 with its text as `message`.
    An exception becomes 500 with INTERNAL; the log has its type.

    Args:
        tools: functions, their names of the form `[a-z0-9_]+`, each once; or a registry. At most MAX_TOOLS.
        host: address to listen on; beyond this machine only with a token.
        port: 0 takes a free one; the host's `url` has it.
        token: bearer token of the clients; only `/health` needs none.
        limits: how long the parts of a request may take.
        version: the version of the tools in the answer to `/health`; by default octoc's own.

    Raises: ValueError for tools, a host or a token that break the rules above; OSError, if it cannot listen.
    """
    host_tools, call_s = (PythonTools(tools), CALL_S) if isinstance(tools, Iterable) else (RegistryTools(tools), None)
    if token is not None and not re.fullmatch(r"[!-~]+", token):
        raise ValueError("a token is one or more visible ASCII characters")
    if token is None and not is_loopback(host):
        raise ValueError(f"serving at `{host}`, beyond this machine, needs a token")
    limits = limits or HostLimits()
    if limits.call_s is None:
        limits = attrs.evolve(limits, call_s=call_s)
    running = RestHost(host_tools, token, limits, version)
    await running.listen(host, port)
    return running


class RestHost:
    """A running host. Made by `serve`."""

    def __init__(self, tools: HostTools, token: str | None, limits: HostLimits, version: str) -> None:
        self._tools = tools
        self._token = token
        self._limits = limits
        self._health = dump({"status": "ok", "version": version})
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self.url = ""

    async def listen(self, host: str, port: int) -> None:
        """Start listening. Raises: OSError."""
        self._server = await asyncio.start_server(self._accept, host, port, limit=MAX_HEAD_BYTES)
        taken = self._server.sockets[0].getsockname()
        name = f"[{taken[0]}]" if ":" in taken[0] else taken[0]
        self.url = f"http://{name}:{taken[1]}"

    async def close(self) -> None:
        """Stop listening, and end all connections and running calls. Idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        clients = list(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        crowded = len(self._clients) >= MAX_CONNECTIONS
        task = asyncio.create_task(self._converse(reader, writer, crowded=crowded))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, crowded: bool) -> None:
        """Answer one client's requests, one after another, until either side closes the connection."""
        try:
            while await self._exchange(reader, writer, crowded=crowded):
                pass
        except (TimeoutError, OSError):
            pass  # the client is too slow, or gone
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1.0):
                    await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, crowded: bool) -> bool:
        """Answer one request; return whether another may follow on the connection."""
        keep_alive = False
        headers: dict[str, str] = {}
        try:
            if crowded:
                raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "there are too many connections")
            async with asyncio.timeout(self._limits.head_s):
                request = await read_head(reader)
            if request is None:
                return False
            self._authorize(request)
            if request.headers.get("expect", "").lower() == "100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(self._limits.body_s):
                content = await read_body(request, reader)
            if content is None:
                return False
            keep_alive = request.keep_alive
            status, body = HTTPStatus.OK, await self._answer(request, content)
        except RefusedError as refused:
            status, body = refused.status, dump({**refused.extra, "error": refused.code, "message": str(refused)})
            if "retry_after" in refused.extra:
                headers["Retry-After"] = str(refused.extra["retry_after"])
            if status is HTTPStatus.METHOD_NOT_ALLOWED:
                headers["Allow"] = "POST" if "POST" in str(refused) else "GET"
            if status is HTTPStatus.UNAUTHORIZED:
                headers["WWW-Authenticate"] = "Bearer"
        writer.write(response(status, body, keep_alive=keep_alive, headers=headers))
        async with asyncio.timeout(self._limits.write_s):
            await writer.drain()
        if not keep_alive:
            await _linger(reader, writer)
        return keep_alive

    def _authorize(self, request: Request) -> None:
        """Check origin and token of a request. Raises: RefusedError."""
        if "origin" in request.headers:
            # Otherwise a web page in a browser on this machine could call the tools of a host without a token.
            raise RefusedError(HTTPStatus.FORBIDDEN, "forbidden", "requests of web pages are not taken")
        if self._token is None or request.path == "/health":
            return
        given = request.headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode("latin-1")):
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "unauthorized", "a bearer token is missing or wrong")

    async def _answer(self, request: Request, content: bytes) -> bytes:
        """Return the body of a successful answer. Raises: RefusedError."""
        called = _CALL.fullmatch(request.path)
        if request.path not in {"/tools", "/health"} and called is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "not_found", "there is nothing at this path")
        method = "GET" if called is None else "POST"
        if request.method != method:
            raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", f"this path takes {method}")
        if called is None:
            return self._tools.listing() if request.path == "/tools" else self._health
        caller = Caller(
            tenant=request.headers.get(TENANT.lower()) or None,
            correlation_id=request.headers.get(CORRELATION.lower()) or None,
            user=request.headers.get(USER.lower()) or None,
        )
        return await self._call(called[1], request, content, caller)

    async def _call(self, name: str, request: Request, content: bytes, caller: Caller) -> bytes:
        limit = asyncio.timeout(self._limits.call_s)
        CALLER.set(caller)
        try:
            async with limit:
                return await self._tools.call(name, lambda: _arguments(request, content), caller)
        except RefusedError:
            raise
        except Exception as error:  # a function may raise anything
            if limit.expired():
                late = f"`{name}` did not end within {self._limits.call_s:g} s"
                raise RefusedError(HTTPStatus.GATEWAY_TIMEOUT, "timeout", late) from None
            # The text of the exception is the tool's own and may have secrets in it, so only the debug level logs it.
            log.warning("tool `%s` failed with %s; at debug level the log says where", name, type(error).__name__)
            log.debug("how tool `%s` failed", name, exc_info=True)
            raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", INTERNAL) from None


async def _linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read what the client still sends: closing a socket with unread bytes resets it, and loses the answer."""
    with contextlib.suppress(TimeoutError, OSError):
        writer.write_eof()
        async with asyncio.timeout(LINGER_S):
            while await reader.read(MAX_HEAD_BYTES):
                pass


def _arguments(request: Request, content: bytes) -> dict[str, Any]:
    if media_type(request.headers.get("content-type", "")) != JSON_TYPE:
        wanted = f"the body's content type is to be `{JSON_TYPE}`"
        raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", wanted)
    try:
        arguments = parse_json(content)
    except TooManyElementsError as error:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"the body has {error}") from None
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "invalid_arguments", f"the body is not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "invalid_arguments", "the body is not a JSON object")
    return arguments
