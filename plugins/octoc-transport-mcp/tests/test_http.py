import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import attrs
import pytest

from octoc.plugin import (
    ConnectFailedError,
    Connection,
    ServerListing,
    ServerTarget,
    ToolCall,
    ToolFailure,
    ToolResult,
    Transport,
)
from octoc.testing import TransportContract
from octoc_transport_mcp import octoc_make_transport

# The SDK's own server on a free port of the loopback, which it prints. It wants a token, and dies on request.
SERVER = """
import asyncio, os, socket, sys, uvicorn
from mcp.server import MCPServer

server = MCPServer("loopback", instructions="Be kind.")

@server.tool()
def echo(words: str) -> str:
    "Say it again."
    return words

@server.tool()
async def hang() -> str:
    "Never answer."
    await asyncio.sleep(600)
    return ""

@server.tool()
def die() -> str:
    "End the server."
    os._exit(7)

app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()

async def refuse_discover(receive, send):
    # What a server of the older era makes of the newer era's first request.
    message = await receive()
    if b"server/discover" not in message.get("body", b""):
        return message
    await send({"type": "http.response.start", "status": 400, "headers": []})
    await send({"type": "http.response.body", "body": b"Bad Request: no session"})
    return None

async def guarded(scope, receive, send):
    if sys.argv[1] == "legacy" and scope["type"] == "http" and scope["method"] == "POST":
        first = await refuse_discover(receive, send)
        if first is None:
            return
        said, rest = iter([first]), receive
        async def receive():
            return next(said, None) or await rest()
    if scope["type"] == "http" and (b"authorization", b"Bearer let-me-in") not in scope["headers"]:
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"who are you?"})
        return
    await app(scope, receive, send)

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(guarded, log_level="critical")).run(sockets=[listener])
"""
HEADERS = {"Authorization": "Bearer let-me-in"}


def serve(kind: str) -> Iterator[ServerTarget]:
    """Run a server of `kind` and yield its target."""
    process = subprocess.Popen([sys.executable, "-c", SERVER, kind], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        path = "sse" if kind == "sse" else "mcp"
        transport = "sse" if kind == "sse" else "http"
        yield ServerTarget(name="web", transport=transport, url=f"http://127.0.0.1:{port}/{path}", headers=HEADERS)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(params=["http", "legacy", "sse"])
def target(request: pytest.FixtureRequest) -> Iterator[ServerTarget]:
    """A server of each kind in turn, one a test, since some end it."""
    yield from serve(request.param)


@pytest.fixture(scope="module")
def http_target() -> Iterator[ServerTarget]:
    """A Streamable HTTP server for a whole suite."""
    yield from serve("http")


@pytest.fixture(scope="module")
def sse_target() -> Iterator[ServerTarget]:
    """An SSE server for a whole suite."""
    yield from serve("sse")


class HttpSuite(TransportContract):
    kind: ClassVar[str]
    shared: ClassVar[ServerTarget]

    def make_transport(self) -> Transport:
        transport = octoc_make_transport(self.kind)
        assert transport is not None
        return transport

    def target(self) -> ServerTarget:
        return self.shared

    def unreachable_target(self) -> ServerTarget:
        return attrs.evolve(self.shared, url="http://127.0.0.1:1/mcp?key=s3cr3t-v4lue-of-the-contract")

    def good_call(self) -> ToolCall:
        return ToolCall(tool="echo", arguments={"words": "hello"}, timeout_s=30.0)

    def slow_call(self) -> ToolCall:
        return ToolCall(tool="hang", arguments={}, timeout_s=0.3)


class TestStreamableHttp(HttpSuite):
    kind = "http"

    @pytest.fixture(autouse=True)
    def _shared(self, http_target: ServerTarget) -> None:
        type(self).shared = http_target


class TestSse(HttpSuite):
    kind = "sse"

    @pytest.fixture(autouse=True)
    def _shared(self, sse_target: ServerTarget) -> None:
        type(self).shared = sse_target


def transport_of(target: ServerTarget) -> Transport:
    """The transport for a target's kind."""
    transport = octoc_make_transport(target.transport)
    assert transport is not None
    return transport


def with_connection(target: ServerTarget, scenario: Callable[[Connection], Awaitable[None]]) -> None:
    """Run `scenario` on a connection to `target`, which is closed in the end."""

    async def run() -> None:
        connection = await transport_of(target).connect(target)
        try:
            await scenario(connection)
        finally:
            await connection.close()

    asyncio.run(run())


def refusal(target: ServerTarget) -> str:
    """The message with which `target` cannot be connected."""
    with pytest.raises(ConnectFailedError) as caught:
        asyncio.run(transport_of(target).connect(target))
    return str(caught.value)


def test_tools_are_listed_and_called(target: ServerTarget) -> None:
    """A server with a URL lists its tools with its instructions, and answers."""
    found: list[ServerListing] = []

    async def scenario(connection: Connection) -> None:
        found.append(await connection.list_tools())
        result = await connection.call(ToolCall(tool="echo", arguments={"words": "hi"}, timeout_s=30.0))
        assert isinstance(result, ToolResult)
        assert result.text == "hi"

    with_connection(target, scenario)
    assert [tool.name for tool in found[0].tools] == ["echo", "hang", "die"]
    assert found[0].instructions == "Be kind."


@pytest.mark.node
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_servers_of_the_typescript_sdk_are_reached_over_http(node_server: Callable[[str], Any], kind: str) -> None:
    """The TypeScript SDK's server is listed and called over Streamable HTTP with a session, and over SSE."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    mode, path = ("sse", "sse") if kind == "sse" else ("streamableHttp", "mcp")
    command = ["node", str(node_server("server-everything")), mode]
    target = ServerTarget(name="everything", transport=kind, url=f"http://127.0.0.1:{port}/{path}")
    found: list[str] = []

    async def scenario(connection: Connection) -> None:
        listing = await connection.list_tools()
        found.extend((listing.protocol_version, *(tool.name for tool in listing.tools)))
        result = await connection.call(ToolCall(tool="get-sum", arguments={"a": 20, "b": 22}, timeout_s=30.0))
        assert isinstance(result, ToolResult)
        assert "42" in result.text

    process = subprocess.Popen(
        command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        while b"on port" not in (line := process.stderr.readline()):
            assert line, "the server has ended"
        with_connection(target, scenario)
    finally:
        process.kill()
        process.communicate()
    assert found[0] == "2025-11-25"
    assert "echo" in found


def test_a_server_that_goes_away_is_a_value(target: ServerTarget) -> None:
    """A server that ends in a call fails that call and the next, as values, and the connection is not alive."""

    async def scenario(connection: Connection) -> None:
        first = await connection.call(ToolCall(tool="die", arguments={}, timeout_s=5.0))
        assert isinstance(first, ToolFailure)
        assert first.kind == "connection_lost"
        for _ in range(50):  # while it ends, its socket may still accept unread bytes
            again = await connection.call(ToolCall(tool="echo", arguments={"words": "hi"}, timeout_s=5.0))
            assert isinstance(again, ToolFailure)
            assert again.kind == "connection_lost"
            if not connection.alive:
                break
        assert not connection.alive

    with_connection(target, scenario)


def test_a_refused_token_is_named_by_its_status(target: ServerTarget) -> None:
    """Without the header that the server wants, the message has the status and the header's name, not its value."""
    message = refusal(attrs.evolve(target, headers={"Authorization": "Bearer wrong-token"}))
    assert message.endswith(
        "answered HTTP 401: it does not take the credential in the header `Authorization` of server `web`"
    )
    assert "wrong-token" not in message


class Answers(BaseHTTPRequestHandler):
    status: ClassVar[int] = 200
    body: ClassVar[bytes] = b"<html>welcome</html>"

    def do_POST(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_GET = do_POST  # noqa: N815  # the name that http.server calls

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in http.server
        """Say nothing."""


class Sessions(BaseHTTPRequestHandler):
    """A server of the older era, which has forgotten the session when a tool is called."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, body = message["method"], {"error": {"code": -32601, "message": "Method not found"}}
        if method == "initialize":
            info = {"name": "old", "version": "1"}
            body = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        status = 404 if method == "tools/call" else 200 if "id" in message else 202
        data = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **body}).encode() if status == 200 else b""
        self.send_response(status)
        self.send_header("Mcp-Session-Id", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.send_error(405)

    do_DELETE = do_GET  # noqa: N815  # the name that http.server calls

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in http.server
        """Say nothing."""


def test_a_session_that_the_server_ended_is_lost() -> None:
    """A session that the server no longer knows fails the call, and the connection is not alive."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sessions)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    url = f"http://127.0.0.1:{server.server_port}/mcp"

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(ToolCall(tool="echo", arguments={}, timeout_s=30.0))
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.message) == ("connection_lost", "`old` has ended the session: HTTP 404")
        assert not outcome.sent
        assert not connection.alive

    try:
        with_connection(ServerTarget(name="old", transport="http", url=url), scenario)
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def web() -> Iterator[Callable[[int], str]]:
    """A function that starts a web server without MCP, which answers with a status, and returns its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Answers,), {"status": status}))
        servers.append(server)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("kind", ["http", "sse"])
@pytest.mark.parametrize("status", [200, 404, 502])
def test_a_web_server_that_is_no_mcp_server_says_so(web: Callable[[int], str], kind: str, status: int) -> None:
    """Another web server's answer is one line with the server's origin, the status, and no HTML."""
    origin = web(status)
    message = refusal(ServerTarget(name="web", transport=kind, url=f"{origin}/mcp?key=not-shown", timeout_s=20.0))
    assert message.startswith(f"`{origin}` ")
    assert "not-shown" not in message
    assert "\n" not in message
    assert f"answered HTTP {status}" in message
    assert "<html>" not in message


def test_nothing_listens(target: ServerTarget) -> None:
    """A refused connection is named as such."""
    message = refusal(attrs.evolve(target, url="http://127.0.0.1:1/mcp"))
    assert message.startswith("`http://127.0.0.1:1` could not be reached: ")


@pytest.mark.node
def test_servers_of_the_older_era_are_reached(node_server: Callable[[str], Any]) -> None:
    """The TypeScript SDK's server is listed over stdio in its own era."""
    script = node_server("server-everything")
    target = ServerTarget(name="everything", transport="stdio", command="node", args=(str(script),))
    found: list[str] = []

    async def scenario(connection: Connection) -> None:
        found.append((await connection.list_tools()).protocol_version)
        result = await connection.call(ToolCall(tool="echo", arguments={"message": "hi"}, timeout_s=30.0))
        assert "hi" in json.dumps(attrs.asdict(result))

    with_connection(target, scenario)
    assert found == ["2025-11-25"]
