"""Calls that go past the SDK's streams: what is one message is taken, anything more is handed to the SDK whole."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2
import mcp.client.session
import pytest
from mcp.shared.exceptions import MCPError

from octoc.plugin import ServerTarget, ToolCall, ToolResult
from octoc.testing import Era, faulty_http
from octoc_transport_mcp import octoc_make_transport
from octoc_transport_mcp.claims import FIRST_ID
from octoc_transport_mcp.direct_calls import DirectCalls
from octoc_transport_mcp.http_client import GuardedClient
from octoc_transport_mcp.http_faults import HttpState

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
    """The SDK's part: sends a request by the same HTTP client, and keeps all answers."""

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
