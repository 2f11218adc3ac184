"""Calls that go past the SDK's streams: what is one message is taken, anything more is handed to the SDK whole."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpcore2
import httpx2
import mcp.client.session
import pytest
from mcp.shared.exceptions import MCPError

from octoc.plugin import ServerTarget
from octoc.results import ToolCall, ToolResult
from octoc.testing.faulty_http import Era, faulty_http
from octoc_transport_mcp import octoc_make_transport
from octoc_transport_mcp.claims import FIRST_ID
from octoc_transport_mcp.direct import DirectCalls
from octoc_transport_mcp.http_bounds import BoundedTransport
from octoc_transport_mcp.http_client import GuardedClient
from octoc_transport_mcp.http_faults import HttpState
from octoc_transport_mcp.http_joined import MAX_JOINED_BYTES, JoinedStream

URL = "http://127.0.0.1:1/mcp"
STEP = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "step"}}


def answer(request_id: Any, **more: Any) -> dict[str, Any]:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": request_id, **(more or {"result": {"content": []}})}


def events(*messages: Mapping[str, Any]) -> httpx2.Response:
    """Return a stream of events that says these messages."""
    said = "".join(f"event: message\ndata: {json.dumps(message)}\n\n" for message in messages)
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=said.encode())


class Sdk:
    """The SDK's part: sends a request by the same HTTP client, and keeps all that is said in answer."""

    def __init__(self, client: GuardedClient) -> None:
        self.client = client
        self.heard: list[Any] = []
        self.notified: list[Any] = []

    async def notify(self, method: str, params: Mapping[str, Any] | None, _: Any = None) -> None:
        self.notified.append((method, params))

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": (opts or {}).get("request_id", 1), "method": method, "params": params}
        response = await self.client.send(self.client.build_request("POST", URL, json=message), stream=True)
        body = (await response.aread()).decode()
        lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
        self.heard += [json.loads(one) for one in lines or [body]]
        result: dict[str, Any] = self.heard[-1]["result"]
        return result


def play(
    serve: Callable[[Any], httpx2.Response], scenario: Callable[[DirectCalls, Sdk], Awaitable[None]]
) -> list[dict[str, Any]]:
    """Play a scenario before a server, and return the messages that the server got."""
    got: list[dict[str, Any]] = []

    async def handle(request: httpx2.Request) -> httpx2.Response:
        got.append(json.loads(request.content))
        if got[-1]["params"].get("name") == "hang":
            await asyncio.Event().wait()
        return serve(got[-1])

    async def played() -> None:
        target = ServerTarget(name="far", transport="http", url=URL, timeout_s=5.0)
        async with GuardedClient(HttpState(target), 1 << 20, transport=httpx2.MockTransport(handle)) as client:
            sdk = Sdk(client)
            await scenario(DirectCalls(sdk, client, httpx2.URL(URL)), sdk)

    asyncio.run(asyncio.wait_for(played(), 300))
    return got


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_of_one_message_is_taken_past_the_sdk(*, streamed: bool) -> None:
    """As JSON and as a stream that begins with it; an error is raised as the SDK would."""

    def serve(message: Any) -> httpx2.Response:
        error = {"code": -5, "message": "no", "data": 1}
        said = answer(message["id"], **({"error": error} if message["params"]["name"] == "bad" else {}))
        return events(said) if streamed else httpx2.Response(200, json=said)

    async def scenario(calls: DirectCalls, sdk: Sdk) -> None:
        assert await calls.send_raw_request("tools/call", {"name": "good"}, {"headers": {"a": "b"}}) == {"content": []}
        with pytest.raises(MCPError) as raised:
            await calls.send_raw_request("tools/call", {"name": "bad"})
        assert (raised.value.error.code, raised.value.error.message, raised.value.error.data) == (-5, "no", 1)
        assert sdk.heard == []

    assert [one["id"] for one in play(serve, scenario)] == [2 * FIRST_ID, 2 * FIRST_ID + 1]


def test_an_answer_of_more_is_the_sdks_and_is_asked_for_once() -> None:
    """What came before the answer is heard by the SDK too, and the call is sent a single time."""

    async def scenario(calls: DirectCalls, sdk: Sdk) -> None:
        assert await calls.send_raw_request("tools/call", {"name": "good"}) == {"content": []}
        assert sdk.heard == [STEP, answer(2 * FIRST_ID)]

    assert len(play(lambda message: events(STEP, answer(message["id"])), scenario)) == 1


def test_other_requests_are_sent_by_the_sdk() -> None:
    """Other methods, and calls with progress or a time limit, take the SDK's way."""

    async def scenario(calls: DirectCalls, sdk: Sdk) -> None:
        async def hear(progress: float, total: float | None, message: str | None) -> None: ...

        await calls.send_raw_request("prompts/list", {})
        await calls.send_raw_request("tools/call", {"name": "good"}, {"on_progress": hear})
        await calls.send_raw_request("tools/call", {"name": "good"}, {"timeout": 1.0})
        assert len(sdk.heard) == 3

    play(lambda message: httpx2.Response(200, json=answer(message["id"])), scenario)


@pytest.fixture
def other_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of the SDK whose sessions keep what they send through under another name."""
    module = mcp.client.session
    source = inspect.getsource(module.ClientSession)
    assert "self._dispatcher" in source
    made = dict(vars(module))
    exec(compile(source.replace("_dispatcher", "_conduit"), module.__file__, "exec"), made)  # noqa: S102  # its own text
    monkeypatch.setattr("mcp.client.client.ClientSession", made["ClientSession"])


def ids_of_calls(era: Era, *, streams: bool = False) -> list[int]:
    """Call a tool through the transport, and return the ids of the requests that called one."""

    async def scenario() -> list[int]:
        transport = octoc_make_transport("http")
        assert transport is not None
        async with faulty_http(era, as_events=streams) as server:
            connection = await transport.connect(ServerTarget(name="far", transport="http", url=server.url))
            try:
                outcome = await connection.call(ToolCall(tool="echo", arguments={"text": "there"}, timeout_s=30))
            finally:
                await connection.close()
            assert isinstance(outcome, ToolResult), outcome
            assert outcome.content[0].text == "there"
            asked = [json.loads(request.body) for request in server.requests if request.body]
            return [message["id"] for message in asked if message["method"] == "tools/call"]

    return asyncio.run(asyncio.wait_for(scenario(), 300))


@pytest.mark.parametrize("streams", [False, True], ids=["json", "events"])
@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_calls_go_past_the_installed_sdk(era: Era, *, streams: bool) -> None:
    """The release that is installed has what is used of its inside: calls have ids that it does not give."""
    (sent,) = ids_of_calls(era, streams=streams)
    assert sent >= FIRST_ID


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.usefixtures("other_release")
def test_a_release_without_what_is_used_of_it_sends_calls_itself(era: Era) -> None:
    """Where the inside of the SDK is another, a call is made all the same, with one of the SDK's ids."""
    (sent,) = ids_of_calls(era)
    assert 0 < sent < FIRST_ID


def test_a_call_that_is_given_up_is_told_and_one_of_a_closed_session_ends() -> None:
    """The server hears of a cancellation by the call's id; the end of the session is an error of its own."""

    async def scenario(calls: DirectCalls, sdk: Sdk) -> None:
        for number, end in enumerate(("cancel", "close")):
            call = asyncio.create_task(calls.send_raw_request("tools/call", {"name": "hang"}))
            while not calls._scopes:  # noqa: ASYNC110  # nothing tells of it
                await asyncio.sleep(0)
            if end == "cancel":
                call.cancel()
            else:
                calls.close()
            await asyncio.wait((call,))
            told = {"requestId": 2 * FIRST_ID, "reason": "caller cancelled"}
            assert sdk.notified == [("notifications/cancelled", told)]
            assert call.cancelled() == (number == 0)
        with pytest.raises(MCPError, match="Connection closed"):
            call.result()

    play(lambda message: httpx2.Response(200, json=answer(message["id"])), scenario)


def test_a_request_is_not_sent_where_the_server_has_left_since_the_pool_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes between the choice of a connection and the first byte: it goes over another, once."""
    received: list[bytes] = []
    write = JoinedStream.write

    async def scenario() -> None:
        first, chosen = asyncio.Event(), asyncio.Event()

        async def late(stream: JoinedStream, buffer: bytes, timeout: float | None = None) -> None:
            if first.is_set() and not chosen.is_set():
                chosen.set()
                while not stream.get_extra_info("is_readable"):  # noqa: ASYNC110  # nothing else tells of the end
                    await asyncio.sleep(0)
            await write(stream, buffer, timeout)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.closing(writer):
                await reader.readuntil(b"\r\n\r\n")
                received.append(await reader.readexactly(2))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n" + received[-1])
                await writer.drain()
                await chosen.wait()

        monkeypatch.setattr(JoinedStream, "write", late)
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
            async with httpx2.AsyncClient(transport=BoundedTransport(100)) as client:
                assert (await client.post(url, content=b"{}")).content == b"{}"
                first.set()
                assert (await client.post(url, content=b"[]")).content == b"[]"

    asyncio.run(asyncio.wait_for(scenario(), 60))
    assert received == [b"{}", b"[]"]


class Written(httpcore2.AsyncNetworkStream):
    """A connection that keeps what is written, on which nothing is there to be read."""

    def __init__(self, silent: socket.socket) -> None:
        self.writes: list[bytes] = []
        self._silent = silent

    def get_extra_info(self, info: str) -> Any:
        return self._silent if info == "socket" else None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.writes.append(buffer)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return b""


def test_head_and_body_of_a_request_are_one_write() -> None:
    """A body that is large goes by itself, and a head without one goes before an answer is read."""
    head = b"POST /mcp HTTP/1.1\r\nhost: a\r\n\r\n"
    large = b"x" * (MAX_JOINED_BYTES + 1)

    async def scenario() -> list[bytes]:
        silent, other = socket.socketpair()
        with silent, other:
            stream = JoinedStream(inner := Written(silent))
            for pieces in ((head, b"{}"), (head, large), (head,), (b"GET / HTTP/1.1\r\n\r\n",)):
                for piece in pieces:
                    await stream.write(piece)
                await stream.read(1)
            return inner.writes

    assert asyncio.run(scenario()) == [head + b"{}", head, large, head, b"GET / HTTP/1.1\r\n\r\n"]
