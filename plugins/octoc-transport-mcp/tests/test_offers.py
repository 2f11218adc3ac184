"""Resources, prompts and completions of real servers of the SDK, in both eras."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import Caller, Host, OfferingConnection, ServerTarget, ToolCall, ToolFailure, ToolResult
from octoc_transport_mcp import octoc_make_transport

SERVER = str(Path(__file__).parent / "offering_server.py")
ERAS = ("handshake", "modern")
WAYS = [(era, kind) for kind in ("stdio", "http") for era in ERAS]
pytestmark = pytest.mark.parametrize("era, kind", WAYS)
Scenario = Callable[[OfferingConnection], Awaitable[None]]


_RUNNING = contextlib.ExitStack()


@pytest.fixture(scope="module", autouse=True)
def _servers_end() -> Iterator[None]:
    """Kill the servers that speak HTTP."""
    with _RUNNING:
        yield
    _url.cache_clear()


@functools.cache
def _url(*words: str) -> str:
    """Return where a server is that all tests with these words use."""
    process = _RUNNING.enter_context(subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True))
    _RUNNING.callback(process.kill)
    assert process.stdout is not None
    return f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"


def target_of(era: str, kind: str, args: Sequence[str]) -> ServerTarget:
    """Return a target for the server: one of its own over stdio, the module's over HTTP."""
    words = (SERVER, *args, *(("--handshake",) if era == "handshake" else ()))
    if kind == "stdio":
        return ServerTarget(name="docs", transport=kind, command=sys.executable, args=words, timeout_s=60)
    return ServerTarget(name="docs", transport=kind, url=_url(*words, "--http"), timeout_s=60)


def run(way: tuple[str, str], scenario: Scenario, *args: str, host: Host | None = None) -> None:
    """Run a scenario on a connection to the server."""

    async def with_connection(target: ServerTarget) -> None:
        transport = octoc_make_transport(target.transport)
        assert transport is not None
        connection = await transport.connect(target, host)
        try:
            assert isinstance(connection, OfferingConnection)
            await scenario(connection)
        finally:
            await connection.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(with_connection(target_of(*way, args)))


def request(method: str, subject: str, timeout_s: float = 60.0, **params: Any) -> ToolCall:
    """A request about `subject`."""
    caller = Caller(agent="a", session="s")
    return ToolCall(tool=subject, method=method, arguments=params, timeout_s=timeout_s, caller=caller)


def answer(outcome: ToolResult | ToolFailure) -> Mapping[str, Any]:
    """The server's answer in wire form."""
    assert isinstance(outcome, ToolResult), outcome
    assert outcome.ok, outcome.text
    assert isinstance(outcome.structured, dict)
    return outcome.structured


def test_all_that_a_server_offers_is_listed(era: str, kind: str) -> None:
    """A listing has the resources of all pages, then the templates, then the prompts, and the server's features."""

    async def scenario(connection: OfferingConnection) -> None:
        listing = await connection.list_tools()
        assert [tool.name for tool in listing.tools] == ["touch"]
        assert [(offer.kind, offer.name) for offer in listing.offers] == [
            ("resource", "docs://readme"),
            ("resource", "docs://logo"),
            ("template", "docs://pages/{number}"),
            ("prompt", "greet"),
            ("prompt", "review"),
        ]
        assert listing.offers[0].wire == {
            "uri": "docs://readme",
            "name": "readme",
            "title": "The readme",
            "description": "The readme of docs",
            "mimeType": "text/plain",
            "_meta": {"example.com/owner": "docs"},
        }
        assert listing.offers_failure == ""
        assert listing.features == ("completions", "logging", "subscribe")

    run((era, kind), scenario)


def test_a_resource_is_read_and_a_prompt_filled(era: str, kind: str) -> None:
    """The answers come back in wire form."""

    async def scenario(connection: OfferingConnection) -> None:
        uri = "docs://pages/7"
        read = answer(await connection.request(request("resources/read", uri, uri=uri)))
        assert read["contents"] == [{"uri": uri, "mimeType": "text/plain", "text": f"{uri} of docs"}]
        logo = answer(await connection.request(request("resources/read", "docs://logo", uri="docs://logo")))
        assert logo["contents"][0]["blob"] == "iVBORw0K"
        filled = answer(
            await connection.request(request("prompts/get", "greet", name="greet", arguments={"who": "Ada"}))
        )
        assert filled["messages"] == [{"role": "user", "content": {"type": "text", "text": "greet Ada by docs"}}]
        completion = request(
            "completion/complete", "greet",
            ref={"type": "ref/prompt", "name": "greet"}, argument={"name": "who", "value": "A"},
            context={"arguments": {"b": "1", "a": "2"}},
        )  # fmt: skip
        assert answer(await connection.request(completion))["completion"]["values"] == ["A-greet", "a,b"]

    run((era, kind), scenario)


def test_errors_of_the_server_keep_their_code(era: str, kind: str) -> None:
    """A JSON-RPC error is a result with its code, and a later request is answered."""

    async def scenario(connection: OfferingConnection) -> None:
        unknown = await connection.request(request("resources/read", "docs://none", uri="docs://none"))
        assert isinstance(unknown, ToolResult)
        assert (unknown.rpc_code, unknown.text) == (-32002, "no resource docs://none")
        assert answer(await connection.request(request("prompts/get", "review", name="review")))["messages"]

    run((era, kind), scenario)


@pytest.mark.parametrize("mode, failed", [("hangs", "timeout"), ("shapes", "protocol")])
def test_a_server_that_does_not_answer_right_is_a_failure(era: str, kind: str, mode: str, failed: str) -> None:
    """Silence and wrong shapes are failures of the request alone."""
    if (kind, mode) == ("http", "shapes"):
        pytest.skip("the server writes wrong shapes to its stdout only")

    async def scenario(connection: OfferingConnection) -> None:
        limit = 0.5 if mode == "hangs" else 60
        for one in (
            request("resources/read", "docs://readme", limit, uri="docs://readme"),
            request("prompts/get", "greet", limit, name="greet"),
        ):
            outcome = await connection.request(one)
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == failed
        assert (await connection.list_tools()).tools

    run((era, kind), scenario, "--mode", mode)


def test_questions_during_a_read_reach_the_host(era: str, kind: str) -> None:
    """A server may ask the user before it answers a read or a prompt."""

    async def elicit(_: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": {"name": "Ada"}}

    async def inputs(_: str, wanted: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        return {key: {"action": "accept", "content": {"name": "Ada"}} for key in wanted}

    async def scenario(connection: OfferingConnection) -> None:
        uri = "docs://readme"
        read = answer(await connection.request(request("resources/read", uri, uri=uri)))
        assert read["contents"][0]["text"] == "for Ada"
        filled = answer(await connection.request(request("prompts/get", "greet", name="greet")))
        assert filled["messages"][0]["content"]["text"] == "greet Ada by docs"

    capabilities: dict[str, Any] = {"elicitation": {}}
    for host in (Host(elicit=elicit), Host(elicit=elicit, inputs=inputs, capabilities=lambda: capabilities)):
        run((era, kind), scenario, "--mode", "asks", host=host)


def test_a_subscriber_hears_of_its_resource(era: str, kind: str) -> None:
    """Two users of one resource each hear of a change until they unsubscribe, and of no other resource's."""
    heard: list[tuple[str, str]] = []

    async def scenario(connection: OfferingConnection) -> None:
        changed = asyncio.Event()

        def first(uri: str) -> None:
            heard.append(("first", uri))

        def second(uri: str) -> None:
            heard.append(("second", uri))
            changed.set()

        uri = "docs://readme"
        subscribe = request("resources/subscribe", uri, uri=uri)
        for user in (first, second):
            assert (await connection.subscribe(subscribe, user)).ok
        for touched in ("docs://logo", uri):
            assert (await connection.call(ToolCall(tool="touch", arguments={"uri": touched}, timeout_s=60))).ok
        await changed.wait()
        assert heard == [("first", uri), ("second", uri)]
        await connection.unsubscribe(uri, first)
        changed.clear()
        assert (await connection.call(ToolCall(tool="touch", arguments={"uri": uri}, timeout_s=60))).ok
        await changed.wait()
        assert heard[2:] == [("second", uri)]

    run((era, kind), scenario)
