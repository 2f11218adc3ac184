"""Questions of backends in the modern era: a call goes on between two requests, for its client alone, and once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    InputRequiredResult,
    ListRootsResult,
    Root,
    TextContent,
)

from octoc_serve.calls import MAX_SUSPENDED, RunningCall, SuspendedCalls
from octoc_serve.tokens import Tokens

Run = Callable[..., None]
WANTED = {"tool_name": "asking__fault"}


async def elicit(*_: Any) -> ElicitResult:
    """Answer nothing: it is there so that the client says it can."""
    return ElicitResult(action="decline")


async def first(client: Any, arguments: dict[str, Any] = WANTED) -> InputRequiredResult:
    """Make a call whose backend asks, and return what is asked."""
    asked = await client.session.call_tool("call_mcp_tool", arguments, allow_input_required=True)
    assert isinstance(asked, InputRequiredResult)
    return asked


async def again(client: Any, state: str | None, answers: Any, arguments: dict[str, Any] = WANTED) -> CallToolResult:
    """Ask again, with answers."""
    answered = await client.session.call_tool(
        "call_mcp_tool", arguments, input_responses=answers, request_state=state, allow_input_required=True
    )
    assert isinstance(answered, CallToolResult)
    return answered


async def refusal(client: Any, state: str | None, answers: Any, arguments: dict[str, Any] = WANTED) -> str:
    """Ask again, and return the message of the JSON-RPC error."""
    with pytest.raises(MCPError) as refused:
        await again(client, state, answers, arguments)
    assert refused.value.code == INVALID_PARAMS
    return refused.value.message


def text_of(result: Any) -> str:
    """Return the text parts of a result."""
    return "\n".join(part.text for part in result.content if part.type == "text")


def test_an_answer_is_good_once_for_its_own_client_and_call(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], tmp_path: Path
) -> None:
    """Another token, another call, an unknown name and a second try are refused in the same words."""
    tokens = Tokens(tmp_path / "tokens.json")
    one, other = (tokens.add("supervisor")[1] for _ in range(2))
    gateway = serve()

    async def scenario() -> None:
        async with (
            connect("modern", gateway, token=one, elicitation_callback=elicit) as mine,
            connect("modern", gateway, token=other, elicitation_callback=elicit) as theirs,
        ):
            asked = await first(mine.client)
            assert asked.input_requests is not None
            (name,) = asked.input_requests
            answers = {name: ElicitResult(action="accept", content={"name": "octo"})}
            state = asked.request_state
            refused = [
                await refusal(theirs.client, state, answers),
                await refusal(mine.client, "guessed", answers),
                await refusal(mine.client, state, answers, {"tool_name": "plain__echo"}),
            ]
            right = await again(mine.client, state, answers)
            assert json.loads(text_of(right))["result"]["content"] == {"name": "octo"}
            refused.append(await refusal(mine.client, state, answers))
            assert set(refused) == {refused[0]}

    run(scenario)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_question_that_is_left_out_is_declined(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str
) -> None:
    """A client that asks again without an answer gets the call's outcome, which says which questions had no answer."""
    gateway = shared() if transport == "http" else None

    async def scenario() -> None:
        async with connect("modern", gateway, elicitation_callback=elicit) as heard:
            asked = await first(heard.client)
            answered = await again(heard.client, asked.request_state, {})
            assert "asked for an answer of the user (elicitation)" in text_of(answered)

    run(scenario)


def test_while_a_call_waits_for_its_answer_others_go_on(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """Calls of other backends are answered meanwhile, and then it is, too."""
    gateway = shared()

    async def scenario() -> None:
        async with connect("modern", gateway, elicitation_callback=elicit) as heard:
            asked = await first(heard.client)
            plain = await heard.client.call_tool("call_mcp_tool", {"tool_name": "plain__echo", "arguments": {"a": 1}})
            assert json.loads(text_of(plain)) == {"a": 1}
            assert asked.input_requests is not None
            (name,) = asked.input_requests
            answered = await again(heard.client, asked.request_state, {name: ElicitResult(action="cancel")})
            assert json.loads(text_of(answered))["result"] == {"action": "cancel"}

    run(scenario)


def test_calls_that_wait_for_answers_are_bounded() -> None:
    """One call over the limit ends the oldest, whose name becomes unknown; at the end all calls end."""

    async def scenario() -> None:
        suspended = SuspendedCalls()
        calls: list[RunningCall] = []
        for number in range(MAX_SUSPENDED + 1):
            call = RunningCall("tools/call", f"tool{number}", {}, None)
            call.task = asyncio.create_task(asyncio.Event().wait())  # it never ends by itself
            calls.append(call)
        names = [await suspended.keep(call) for call in calls]
        assert [call.task is not None and call.task.done() for call in calls] == [True] + [False] * MAX_SUSPENDED
        assert suspended.take(names[0], "tools/call", "tool0", {}) is None
        assert suspended.take(names[1], "tools/call", "tool1", {}) is calls[1]
        await suspended.close()
        assert [call.task is not None and call.task.done() for call in calls].count(False) == 1
        await calls[1].stop()

    asyncio.run(scenario())


def test_a_client_that_gives_a_question_up_ends_its_call(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """When a client leaves for good the call that waits for it ends with the gateway, and nothing is left."""
    gateway = serve()

    async def scenario() -> None:
        async with connect("modern", gateway, elicitation_callback=elicit) as heard:
            await first(heard.client)

    run(scenario)
    assert gateway.stop() == 0
    assert "Traceback" not in "".join(gateway.log)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_completions_and_roots_are_asked_too(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str
) -> None:
    """A completion is asked of the client everywhere; roots only over stdio, and declined over HTTP."""
    gateway = shared() if transport == "http" else None

    async def roots(*_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root.model_validate({"uri": "file:///tmp/here"})])

    async def scenario() -> None:
        callbacks = {"sampling_callback": sample, "list_roots_callback": roots}
        async with connect("modern", gateway, **callbacks) as heard:
            sampled, rooted = await asyncio.gather(
                *(
                    heard.client.call_tool("call_mcp_tool", {"tool_name": f"{name}__fault"})
                    for name in ("model", "rooted")
                )
            )
            assert json.loads(text_of(sampled))["result"]["content"]["text"] == "hi"
            if transport == "stdio":
                assert json.loads(text_of(rooted))["result"]["roots"] == [{"uri": "file:///tmp/here"}]
            else:
                assert "asked for the list of roots" in text_of(rooted)

    run(scenario)


async def sample(*_: Any) -> CreateMessageResult:
    """Complete anything."""
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="hi"), model="test")


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("samples", [True, False])
def test_a_round_reaches_the_client_as_its_server_sent_it(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str, samples: bool
) -> None:
    """All requests of a round come at once under the server's names, only those that the client can answer."""
    gateway = shared() if transport == "http" else None
    arguments = {"tool_name": "booking__book"}
    able = {"elicitation_callback": elicit, **({"sampling_callback": sample} if samples else {})}

    async def scenario() -> None:
        async with connect("modern", gateway, **able) as heard:
            asked = await first(heard.client, arguments)
            assert set(asked.input_requests or ()) == ({"guest", "greeting"} if samples else {"guest"})
            who = ElicitResult(action="accept", content={"name": "octo"})
            given = {"guest": who, **({"greeting": await sample()} if samples else {})}
            confirm = await heard.client.session.call_tool(
                "call_mcp_tool",
                arguments,
                input_responses=given,
                request_state=asked.request_state,
                allow_input_required=True,
            )
            assert isinstance(confirm, InputRequiredResult)
            assert set(confirm.input_requests or ()) == {"sure"}
            sure = {"sure": ElicitResult(action="accept", content={})}
            booked = json.loads(text_of(await again(heard.client, confirm.request_state, sure, arguments)))
            assert booked["sure"] == "accept"
            assert booked["first"]["guest"]["content"] == {"name": "octo"}
            assert set(booked["first"]) == set(given)

    run(scenario)


def test_a_kind_that_the_workspace_turns_off_is_not_declared(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """With `sampling = false` the server gets no capability `sampling`, even if the client declares it."""

    async def scenario() -> None:
        async with connect("modern", shared(), elicitation_callback=elicit, sampling_callback=sample) as heard:
            asked = await first(heard.client, {"tool_name": "careful__book"})
            assert set(asked.input_requests or ()) == {"guest"}

    run(scenario)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_the_handshake_era_is_asked_one_by_one(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str
) -> None:
    """The rounds of a modern server reach it as requests during its call, and the call ends with one result."""
    gateway = shared() if transport == "http" else None

    async def accept(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "octo"})

    async def scenario() -> None:
        able = {"elicitation_callback": accept, "sampling_callback": sample}
        async with connect("handshake", gateway, **able) as heard:
            booked = json.loads(text_of(await heard.client.call_tool("call_mcp_tool", {"tool_name": "booking__book"})))
            assert set(booked["first"]) == {"guest", "greeting"}
            assert booked["sure"] == "accept"

    run(scenario)


def test_an_answer_that_is_left_out_is_asked_for_again(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """The server gets what the client sent, and decides what it still needs."""
    arguments = {"tool_name": "booking__book"}

    async def scenario() -> None:
        async with connect("modern", shared(), elicitation_callback=elicit) as heard:
            asked = await first(heard.client, arguments)
            repeated = await heard.client.session.call_tool(
                "call_mcp_tool",
                arguments,
                input_responses={"other": ElicitResult(action="cancel")},
                request_state=asked.request_state,
                allow_input_required=True,
            )
            assert isinstance(repeated, InputRequiredResult)
            assert set(repeated.input_requests or ()) == {"guest"}

    run(scenario)


def test_answers_in_the_first_request_answer_what_the_server_asks_first(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """Answers under the server's own names are taken without asking, others are ignored; the next round is asked."""
    arguments = {"tool_name": "booking__book"}

    async def asked_after(client: Any, *names: str) -> set[str]:
        who = ElicitResult(action="accept", content={"name": "octo"})
        asked = await client.session.call_tool(
            "call_mcp_tool", arguments, input_responses=dict.fromkeys(names, who), allow_input_required=True
        )
        return set(asked.input_requests or ())

    async def scenario() -> None:
        async with connect("modern", shared(), elicitation_callback=elicit) as heard:
            assert await asked_after(heard.client, "guest", "other") == {"sure"}
            assert await asked_after(heard.client, "other") == {"guest"}

    run(scenario)


def test_a_call_that_needs_more_of_its_client_is_a_protocol_error(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    """The error names the capabilities that the server wants, so that a client can declare them."""

    async def scenario() -> None:
        async with connect("modern", shared(), elicitation_callback=elicit) as heard:
            with pytest.raises(MCPError) as refused:
                await heard.client.call_tool("call_mcp_tool", {"tool_name": "booking__sample"})
            assert refused.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
            assert refused.value.error.data == {"requiredCapabilities": {"sampling": {}}}

    run(scenario)
