"""What both eras of the protocol have in common over stdio: progress, news, cancellation, and a server's questions."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import pytest

from octoc.plugin import ConnectFailedError, Connection, Host, Progress, ServerTarget, ToolCall, ToolFailure, ToolResult
from octoc.testing import FAULTY_STDIO
from octoc_transport_mcp import octoc_make_transport

ERAS = ("handshake", "modern")
Scenario = Callable[[Connection], Awaitable[None]]


def target(mode: str, era: str, **fields: Any) -> ServerTarget:
    """A server that misbehaves in `mode`, in one era."""
    args = ("-I", "-S", FAULTY_STDIO, mode, "--era", era)
    return ServerTarget(name="s", transport="stdio", command=sys.executable, args=args, **fields)


def run(where: ServerTarget, scenario: Scenario, host: Host | None = None) -> None:
    """Run `scenario` on a connection, which is closed in the end, and no task is left."""

    async def with_connection() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        connection = await transport.connect(where, host)
        try:
            await scenario(connection)
        finally:
            await connection.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(with_connection())


def call(tool: str = "fault", timeout_s: float = 20.0, **fields: Any) -> ToolCall:
    """A call of a tool without arguments."""
    return ToolCall(tool=tool, arguments={}, timeout_s=timeout_s, **fields)


def nested(depth: int) -> list[Any]:
    """An empty array in as many others."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; a test that waits without effect fails by its own assert."""
    for _ in range(3000):
        if holds():
            return
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_heard_step_by_step(era: str) -> None:
    """Each step that the server tells of a call reaches the call's own callback, with total."""
    heard: list[Progress] = []

    async def scenario(connection: Connection) -> None:
        assert (await connection.call(call(on_progress=heard.append))).ok

    run(target("progress", era), scenario)
    assert heard == [Progress(done=step, total=3) for step in (1, 2, 3)]


@pytest.mark.parametrize("era", ERAS)
def test_meta_goes_with_the_request(era: str) -> None:
    """What a call carries as `meta` is in the request's `_meta`."""
    seen: list[dict[str, Any]] = []

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(call(meta={"traceparent": "00-1-2-01", "example.com/turn": 3}))
        assert isinstance(outcome, ToolResult)
        seen.append(json.loads(outcome.text))

    run(target("meta", era), scenario)
    assert seen[0]["traceparent"] == "00-1-2-01"
    assert seen[0]["example.com/turn"] == 3


@pytest.mark.parametrize("mode", ["tool-disappears", "list-changed-storm"])
@pytest.mark.parametrize("era", ERAS)
def test_news_of_tools_reach_the_host_and_a_storm_is_few(era: str, mode: str) -> None:
    """The host gets the server's name when its tools changed, and few reports of 20,000 changes in a row."""
    told: list[str] = []
    listed: list[list[str]] = []

    async def scenario(connection: Connection) -> None:
        await asyncio.sleep(0.1)  # the stream of news is opened beside the first call
        assert (await connection.call(call())).ok
        await until(lambda: bool(told))
        listed.append([tool.name for tool in (await connection.list_tools()).tools])

    run(target(mode, era), scenario, Host(tools_changed=told.append))
    assert set(told) == {"s"}
    assert len(told) < 200
    assert ("fault" in listed[0]) == (mode != "tool-disappears")


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_given_up_is_cancelled_at_the_server(era: str) -> None:
    """A call that times out and one that is cancelled each send a cancellation; an answer after it is dropped."""
    counts: list[str] = []

    async def scenario(connection: Connection) -> None:
        late = await connection.call(call(timeout_s=0.3))
        assert isinstance(late, ToolFailure)
        assert (late.kind, late.sent) == ("timeout", True)
        given_up = asyncio.create_task(connection.call(call()))
        await asyncio.sleep(0.05)
        given_up.cancel()
        await asyncio.wait((given_up,))
        assert given_up.cancelled()
        outcome = await connection.call(call("cancels"))
        assert isinstance(outcome, ToolResult)
        counts.append(outcome.text)

    run(target("late", era), scenario)
    assert counts == ["2"]


def test_a_call_that_was_never_written_was_not_sent() -> None:
    """Calls of a server that no longer reads are timed out one by one; what did not fit the pipe was not sent."""

    async def scenario(connection: Connection) -> None:
        assert (await connection.call(call())).ok
        large = ToolCall(tool="echo", arguments={"text": "x" * 1_000_000}, timeout_s=0.3)
        first, second = await connection.call(large), await connection.call(large)
        assert isinstance(first, ToolFailure)
        assert isinstance(second, ToolFailure)
        assert (first.kind, first.sent) == ("timeout", True)
        assert (second.kind, second.sent) == ("timeout", False)
        assert "does not read its stdin" in second.message

    run(target("deaf", "handshake"), scenario)


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"at": "\ud800"}, "surrogates not allowed"),
        ({"at": float("nan")}, "not JSON compliant"),
        ({"at": {1, 2}}, "type set"),
        ({"at": nested(5000)}, "nested too deep"),
        ({7: "at"}, "should be a valid string"),
    ],
    ids=["half a character", "no number", "no JSON type", "nested", "a key of another type"],
)
def test_arguments_without_a_form_in_json_are_the_callers_fault(arguments: dict[str, Any], why: str) -> None:
    """Arguments that cannot be written as JSON are refused in one line, not sent, and not blamed on the server."""

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(ToolCall(tool="echo", arguments=arguments, timeout_s=20.0))
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.sent) == ("bad_request", False)
        assert outcome.message.startswith("the arguments of `echo` cannot be written as JSON: ")
        assert why in outcome.message
        assert (await connection.call(call())).ok

    run(target("none", "handshake"), scenario)


@pytest.mark.parametrize("code", [-32000, -32001, -32603, 7])
@pytest.mark.parametrize("era", ERAS)
def test_an_error_of_a_server_is_its_own_word_whatever_its_code(era: str, code: int) -> None:
    """Also with the codes that the SDK has for an end of the connection and a time-out: the connection goes on."""

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(ToolCall(tool="fault", arguments={"code": code}, timeout_s=20.0))
        expected = ToolResult.of_text("the printer is out of paper", is_error=True)
        assert outcome == attrs.evolve(expected, rpc_code=code)
        assert connection.alive
        assert (await connection.call(call("echo"))).ok

    run(target("own-error", era), scenario)


def test_a_listing_that_hangs_costs_the_first_call_a_share_of_its_time() -> None:
    """Tools that cannot be listed do not fail the calls: the first waits a while for them, the later ones do not."""

    async def scenario(connection: Connection) -> None:
        assert (await connection.call(call(timeout_s=2.0))).ok
        assert (await connection.call(call(timeout_s=2.0))).ok
        count = await connection.call(call("listings"))
        assert isinstance(count, ToolResult)
        assert count.text == "1"
        with pytest.raises(ConnectFailedError, match="did not list its tools within 3 s") as caught:
            await connection.list_tools()
        assert caught.value.kind == "timeout"

    run(target("hang-in-list", "handshake", timeout_s=3.0), scenario)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("what", ["elicitation", "sampling", "roots"])
def test_a_server_is_answered_by_the_host(era: str, what: str) -> None:
    """What a server asks during a call is put to the host in wire form, and the host's answer reaches the server."""
    asked: list[tuple[str, Mapping[str, Any]]] = []
    answers: dict[str, dict[str, Any]] = {
        "elicitation": {"action": "accept", "content": {"name": "octo"}},
        "sampling": {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"},
        "roots": {"roots": [{"uri": "file:///home/octo", "name": "home"}]},
    }

    async def answer(server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append((server, params))
        return answers[what]

    async def roots(server: str) -> Sequence[Mapping[str, Any]]:
        asked.append((server, {}))
        found: list[dict[str, Any]] = answers["roots"]["roots"]
        return found

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(call())
        assert isinstance(outcome, ToolResult), outcome
        assert len(outcome.content) == 1
        assert json.loads(outcome.text)["result"].items() >= answers[what].items()

    run(target(f"ask-{what}", era), scenario, Host(elicit=answer, sample=answer, roots=roots))
    assert [server for server, _ in asked] == ["s"]
    if what == "elicitation":
        assert asked[0][1]["requestedSchema"]["properties"] == {"name": {"type": "string"}}
    if what == "sampling":
        assert asked[0][1]["maxTokens"] == 10


@pytest.mark.parametrize("era", ERAS)
def test_a_host_that_fails_to_answer_does_not_end_the_connection(era: str) -> None:
    """A callback that raises declines the question; the result says so, and the next call is answered."""

    async def fails(server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError(f"no window for {server} to ask {len(params)} things")

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(call())
        assert "asked for an answer of the user (elicitation)" in outcome.text
        assert (await connection.call(call("echo"))).ok

    run(target("ask-elicitation", era), scenario, Host(elicit=fails))


def test_only_what_the_host_answers_is_declared() -> None:
    """The client declares the capabilities for which the host has a callback."""
    declared: list[set[str]] = []

    async def roots(_: str) -> Sequence[Mapping[str, Any]]:
        return []

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(call())
        assert isinstance(outcome, ToolResult)
        declared.append(set(json.loads(outcome.text)["io.modelcontextprotocol/clientCapabilities"]))

    run(target("meta", "modern"), scenario)
    run(target("meta", "modern"), scenario, Host(roots=roots))
    assert declared == [set(), {"roots"}]


def test_a_limit_of_the_target_is_kept() -> None:
    """A line over `max_body_bytes` fails the call that waits for it, and one below it does not."""

    async def scenario(connection: Connection) -> None:
        fits = ToolCall(tool="echo", arguments={"text": "x" * 3_000}, timeout_s=20.0)
        assert (await connection.call(fits)).ok
        outcome = await connection.call(ToolCall(tool="echo", arguments={"text": "x" * 5_000}, timeout_s=20.0))
        assert isinstance(outcome, ToolFailure)
        assert outcome.kind == "too_large"
        assert "over the limit of 4096" in outcome.message
        assert connection.alive

    run(target("none", "modern", max_body_bytes=4096), scenario)


REFUSALS = [
    ({"command": "octoc-no-such-command"}, "connect_failed", True),
    ({"command": "/"}, "connect_failed", True),
    ({"command": "sh", "args": ("-c", "exit 4")}, "connect_failed", False),
    ({"command": "sleep", "args": ("600",), "timeout_s": 0.3}, "timeout", False),
    ({"command": "cat"}, "protocol", True),
    ({"command": None}, "connect_failed", True),
]


@pytest.mark.parametrize("fields, kind, is_permanent", REFUSALS, ids=lambda value: str(value)[:40])
def test_a_refusal_says_whether_trying_again_can_help(fields: dict[str, Any], kind: str, *, is_permanent: bool) -> None:
    """A failure that needs a change is permanent; one that a busy machine may cause is not."""

    async def connect() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        await transport.connect(ServerTarget(name="x", transport="stdio", **fields))

    with pytest.raises(ConnectFailedError) as caught:
        asyncio.run(connect())
    assert (caught.value.kind, caught.value.permanent) == (kind, is_permanent)


def test_hosts_that_are_cancelled_leave_no_task() -> None:
    """When the host's task is cancelled in a call and in closing, the connection's tasks still end by themselves."""

    async def host() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        connection = await transport.connect(target("hang-in-call", "modern"), Host(tools_changed=lambda _: None))
        try:
            await connection.call(call())
        finally:
            await connection.close()

    async def run_it() -> None:
        task = asyncio.create_task(host())
        await asyncio.sleep(0.5)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()
        await until(lambda: len(asyncio.all_tasks()) == 1)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run_it())
