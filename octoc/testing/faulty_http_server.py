"""An MCP server over HTTP that misbehaves on demand: each of its tools except two is a fault, named after what it does.

    async with faulty_http("modern") as server:
        connect to server.url, call `echo` (healthy), `wait` (healthy, after `seconds`), `gzip_bomb`, `json_cut`, …

The eras are `modern` (2026-07-28), `legacy` (Streamable HTTP with a session) and `sse` (the older transport). With
`everywhere` the fault answers every request, so no client can connect. The era `rest` is Octopus' REST protocol. The
server listens on the loopback and needs only the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import subprocess
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from octoc.testing.http_faults import EVENTS, HTTP_FAULTS, HttpFault, ReceivedRequest, head

Era = Literal["modern", "legacy", "sse", "rest"]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "seconds": {"type": "number"}}}
_MIB = 1024 * 1024


@attrs.define(eq=False)
class FaultyHttpServer:
    """The server: `requests` has all received requests, `acting` is the number of faults in progress."""

    era: Era
    everywhere: str = ""
    elsewhere: str = "http://127.0.0.1:1"
    as_events: bool = False
    url: str = ""
    requests: list[ReceivedRequest] = attrs.field(factory=list)
    forgetful: bool = True
    token: str = ""
    """The token that every request must send; empty accepts any."""
    sessions: set[str] = attrs.field(factory=set)
    acting: int = 0
    open: int = 0
    """The number of open connections."""
    _streams: dict[str, StreamWriter] = attrs.field(factory=dict)
    _tasks: set[asyncio.Task[Any]] = attrs.field(factory=set)

    async def converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer the requests of one connection."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        self.open += 1
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while (request := await _read(reader, writer)) is not None:
                    self.requests.append(request)
                    if not await self._answer(request, writer, reader):
                        break
        finally:
            self.open -= 1
            if task is not None:
                self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, request: ReceivedRequest, writer: StreamWriter, reader: StreamReader) -> bool:
        message = _json(request.body)
        at = HttpFault(self, request, message, writer)
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return await self._misbehave("status_401", at, reader)
        if self.everywhere:
            return await self._misbehave(self.everywhere, at, reader)
        if self.era == "rest":
            return await self._answer_rest(at, reader)
        if self.era == "sse":
            if request.method == "GET":
                await self._stream(writer, reader)
                return False
            at.stream = self._streams.get(request.path.partition("?")[2])
            if at.stream is None:
                await at.respond("404 Not Found", b"no such session", "text/plain")
                return True
        elif request.method != "POST":
            await at.respond("405 Method Not Allowed" if request.method == "GET" else "204 No Content")
            return True
        session = request.headers.get("mcp-session-id", "")
        if session and session not in self.sessions:
            await at.respond("404 Not Found", b"no such session", "text/plain")
            return True
        return await self._answer_message(at, reader)

    async def _answer_message(self, at: HttpFault, reader: StreamReader) -> bool:
        method, headers = at.message.get("method"), {}
        if "id" not in at.message or method is None:
            await at.respond("202 Accepted")
            return True
        result: dict[str, Any] | None = None
        info = {"name": "faulty", "version": "1"}
        if method == "server/discover" and self.era == "modern":
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        elif method == "initialize" and self.era != "modern":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            if self.era == "legacy":
                session = f"s{len(self.requests)}"
                self.sessions.add(session)
                headers = {"Mcp_Session_Id": session}
        elif method == "tools/list":
            result = {"tools": [{"name": name, "inputSchema": SCHEMA} for name in ("echo", "wait", *HTTP_FAULTS)]}
        elif method == "tools/call":
            name, arguments = at.message["params"]["name"], at.message["params"].get("arguments") or {}
            if name in HTTP_FAULTS:
                return await self._misbehave(name, at, reader)
            await asyncio.sleep(float(arguments.get("seconds", 0)))
            await at.say(at.answer(str(arguments.get("text", ""))))
            return True
        wire = {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
        await at.say(json.dumps({"jsonrpc": "2.0", "id": at.message["id"], **wire}).encode(), **headers)
        return True

    async def _answer_rest(self, at: HttpFault, reader: StreamReader) -> bool:
        path = at.request.path
        if path.endswith("/health"):
            await at.respond("200 OK", b'{"status":"ok"}')
        elif path.endswith("/tools"):
            names = ("echo", "wait", *HTTP_FAULTS)
            tools = [{"name": name, "description": name, "inputSchema": SCHEMA} for name in names]
            await at.respond("200 OK", json.dumps(tools).encode())
        else:
            name = path.rpartition("/tool/")[2].partition("/")[0]
            if name in HTTP_FAULTS:
                return await self._misbehave(name, at, reader)
            await asyncio.sleep(float(at.message.get("seconds", 0)))
            await at.respond("200 OK", at.answer(str(at.message.get("text", ""))))
        return True

    async def _misbehave(self, name: str, at: HttpFault, reader: StreamReader) -> bool:
        """Act until the fault ends or the client disconnects; then close the connection."""
        at.closing = True
        self.acting += 1
        acting = asyncio.ensure_future(HTTP_FAULTS[name](at))
        leaving = asyncio.ensure_future(_until_gone(reader))
        awaited = (acting,) if name == "endless_event" and at.stream is not None else (acting, leaving)
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (acting, leaving):
                task.cancel()
            await asyncio.gather(acting, leaving, return_exceptions=True)
            self.acting -= 1
        return False

    async def _stream(self, writer: StreamWriter, reader: StreamReader) -> None:
        name = f"session={len(self.requests)}"
        self._streams[name] = writer
        writer.write(head("200 OK", EVENTS) + f"event: endpoint\ndata: /messages?{name}\n\n".encode())
        await writer.drain()
        await _until_gone(reader)
        self._streams.pop(name, None)

    def forget(self) -> None:
        """Forget every session, like a restarted server."""
        self.sessions.clear()
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    async def end(self) -> None:
        """End every connection."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _until_gone(reader: StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(_MIB):
            pass


async def _read(reader: StreamReader, writer: StreamWriter) -> ReceivedRequest | None:
    try:
        start = await reader.readexactly(1)
        if start == b"\x16":  # a client that wants to speak TLS
            writer.write(head("400 Bad ReceivedRequest", content_length="0", Connection="close"))
            return None
        first, *lines = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return ReceivedRequest(method=method, path=path, headers=headers, body=body)


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@contextlib.asynccontextmanager
async def faulty_http(
    era: Era,
    *,
    everywhere: str = "",
    elsewhere: str = "http://127.0.0.1:1",
    as_events: bool = False,
    tls: ssl.SSLContext | None = None,
    port: int = 0,
) -> AsyncIterator[FaultyHttpServer]:
    """Run a server on a free port of the loopback; connect to its `url`.

    Args:
        everywhere: the fault that answers each request.
        elsewhere: the origin to which it redirects.
        as_events: answer each request of MCP with a stream of one event.
        tls: speak HTTPS with this context's certificate.
        port: the port; 0 for a free one.
    """
    faulty = FaultyHttpServer(era, everywhere=everywhere, elsewhere=elsewhere, as_events=as_events)
    server = await asyncio.start_server(faulty.converse, "127.0.0.1", port, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    path = {"sse": "/sse", "rest": "/api"}.get(era, "/mcp")
    faulty.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{port}{path}"
    try:
        yield faulty
    finally:
        server.close()
        await faulty.end()
        await server.wait_closed()


def self_signed(folder: Path) -> ssl.SSLContext:
    """Return a server's context with a new certificate for 127.0.0.1, `cert.pem` in `folder`.

    Raises: OSError, subprocess.CalledProcessError when `openssl` is missing or fails.
    """
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=octoc test", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", "-nodes", "-x509"]
    command = ["openssl", "req", *made, *subject, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
