"""What adapters share: tools, turns, calls and history of one session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.adapters import NATIVE, Conversation, Turn
from octoc.adapters.answers import answer_of
from octoc.adapters.call_order import CallOrder
from octoc.results import ContentPart, ToolResult
from octoc.runtime import SlidingWindow
from octoc.testing import AdapterFleet, WorkspaceBuilder

Messages = list[dict[str, Any]]


def talk(fleet: AdapterFleet, script: Callable[[Conversation], Awaitable[None]], **options: Any) -> None:
    """Run a script on a conversation with the clerk."""

    async def run() -> None:
        async with fleet.open() as runtime:
            await script(Conversation(fleet.session(runtime), **options))

    asyncio.run(run())


def names(conversation: Conversation) -> list[str]:
    """Return the names of the present tools."""
    return [tool.name for tool in conversation.tools()]


def user(text: str) -> dict[str, Any]:
    """Return a message of the user, in OpenAI's shape."""
    return {"role": "user", "content": text}


def called(number: int) -> dict[str, Any]:
    """Return a message of the model with one call."""
    function = {"name": "desk__report", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]}


def result(number: int, text: str) -> dict[str, Any]:
    """Return the result of a call."""
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


@pytest.mark.parametrize("tool_format", ["mcp", "anthropic", "openai", "openai-responses", "gemini"])
def test_a_tool_is_the_same_in_each_format(adapter_fleet: AdapterFleet, tool_format: str) -> None:
    """Name, description and schema do not depend on the provider's envelope, and the tool can be called."""

    async def script(conversation: Conversation) -> None:
        (note,) = (tool for tool in conversation.tools() if tool.name == "desk__read_note")
        assert note.description == "Reads a note by its name"
        assert note.parameters["properties"] == {"name": {"type": "string"}}
        assert (await note.call({"name": "tea"})).text == "tea: tea at four"

    talk(adapter_fleet, script, tool_format=tool_format)


def test_annotations_are_kept(adapter_fleet: AdapterFleet) -> None:
    """A tool has those annotations of its server that MCP knows, in each format; octoc's own searches only read."""

    async def script(conversation: Conversation) -> None:
        tools = {tool.name: tool.annotations for tool in conversation.tools()}
        assert tools["desk__whoami"] == AdapterFleet.ANNOTATIONS
        assert tools["find_tools"] == tools["read_result"] == {"readOnlyHint": True}
        assert tools["desk__report"] == tools["call_mcp_tool"] == {}

    for tool_format in ("mcp", "openai-responses"):
        talk(adapter_fleet, script, tool_format=tool_format)


def test_a_message_activates_and_evicts(adapter_fleet: AdapterFleet) -> None:
    """A message's tools are there for the next request, the least recently used capability is gone, the host knows."""
    turns: list[Turn] = []

    async def script(conversation: Conversation) -> None:
        assert "sky__forecast" not in names(conversation)
        history = [user(AdapterFleet.WEATHER_MESSAGE)]
        await conversation.take(history, "openai")
        assert "sky__forecast" in names(conversation)
        history += [{"role": "assistant", "content": "cold"}, user(AdapterFleet.INVOICES_MESSAGE)]
        await conversation.take(history, "openai")
        assert "ledger__list_invoices" in names(conversation)
        assert "sky__forecast" not in names(conversation)

    talk(adapter_fleet, script, on_turn=turns.append)
    assert [(turn.activated, turn.evicted) for turn in turns] == [(("weather",), ()), (("invoices",), ("weather",))]


def test_a_message_is_routed_once(adapter_fleet: AdapterFleet) -> None:
    """Neither a second request with the same messages nor the results of calls route again; a further message does."""

    async def script(conversation: Conversation) -> None:
        history = [{"role": "system", "content": "Be kind."}, user("hello"), user(AdapterFleet.WEATHER_MESSAGE)]
        turn = await conversation.take(history, "openai")
        assert turn is not None
        assert turn.text == f"hello\n{AdapterFleet.WEATHER_MESSAGE}"
        assert await conversation.take(history, "openai") is None
        history += [called(1), result(1, "a report")]
        assert await conversation.take(history, "openai") is None
        history += [{"role": "assistant", "content": "done"}, user(AdapterFleet.WEATHER_MESSAGE)]
        assert await conversation.take(history, "openai") is not None
        assert await conversation.take([], "openai") is None
        await conversation.take_text("hello")
        assert await conversation.take([*history, user("bye"), called(2), user("hello")], "openai") is None
        conversation.tools()
        assert await conversation.take([*history, user("bye"), called(2), user("hello")], "openai") is None
        assert await conversation.take([user("hello")], "openai") is not None

    talk(adapter_fleet, script)


def test_a_failed_call_is_a_value(adapter_fleet: AdapterFleet) -> None:
    """A tool's own error, an unknown tool and arguments of another type are answers with a text for the model."""

    async def script(conversation: Conversation) -> None:
        own = await conversation.call("desk__refuse")
        unknown = await conversation.call("desk__read_notes")
        malformed = await conversation.call("desk__read_note", "not JSON")
        assert (own.failed, own.kind, own.text) == (True, None, "the archive is closed")
        assert (unknown.failed, unknown.kind) == (True, "not_found")
        assert "desk__read_note" in unknown.text
        assert (malformed.failed, malformed.kind) == (True, "bad_request")
        assert unknown.data == {"kind": "not_found", "failed": True}
        assert unknown.wire["isError"] is True

    talk(adapter_fleet, script)


def test_structured_content_images_and_caller(adapter_fleet: AdapterFleet) -> None:
    """Structured content and images stay beside the text, and a tool knows tenant and user."""

    async def script(conversation: Conversation) -> None:
        await conversation.take_text(AdapterFleet.WEATHER_MESSAGE)
        forecast = await conversation.call("sky__forecast", {"city": "Oslo"})
        assert (str(forecast), forecast.structured) == ("cold, then mild", AdapterFleet.FORECAST)
        assert forecast.data == {"structured": AdapterFleet.FORECAST}
        (image,) = (await conversation.call("desk__picture")).images
        assert image.mime_type == "image/png"
        assert (await conversation.call("desk__whoami")).text == f"{AdapterFleet.TENANT}/{AdapterFleet.USER}"

    talk(adapter_fleet, script)


def test_a_result_of_structured_content_alone_has_a_text() -> None:
    """The model reads structured content as JSON if the result has no text."""
    assert answer_of(ToolResult(content=(), structured={"a": 1}), "octoc").text == '{"a": 1}'
    parts = (ContentPart(type="resource", data={"resource": {"uri": "x:y", "text": "inside"}}),)
    assert answer_of(ToolResult(content=parts), "octoc").text == "inside"


def test_a_cut_result_is_read_on(adapter_fleet: AdapterFleet) -> None:
    """A long result has a handle, and `read_result` returns the rest."""

    async def script(conversation: Conversation) -> None:
        answer = await conversation.call("desk__report")
        assert answer.handle is not None
        assert answer.data == {"handle": answer.handle}
        last = await conversation.call("read_result", {"handle": answer.handle, "offset": 46_000})
        assert last.text.startswith(tuple("line0123456789 of the report\n"))
        assert f"line {AdapterFleet.REPORT_LINES - 1} of the report" in last.text

    talk(adapter_fleet, script)


def test_calls_run_at_the_same_time(adapter_fleet: AdapterFleet) -> None:
    """Two calls that wait for each other both end."""

    async def script(conversation: Conversation) -> None:
        calls = (conversation.call("desk__meet", {"name": name}) for name in ("a", "b"))
        assert [answer.text for answer in await asyncio.gather(*calls)] == ["a met 2", "b met 2"]

    talk(adapter_fleet, script)


def test_a_change_of_tools_has_its_place_among_calls(adapter_fleet: AdapterFleet) -> None:
    """A call of `capability` waits for the calls before it, and the calls after it wait for it."""
    events: list[str] = []

    async def one(order: CallOrder, name: str, label: str) -> None:
        async with order.place(name):
            events.append(f"{label} begins")
            for _ in range(3):
                await asyncio.sleep(0)
            events.append(f"{label} ends")

    async def run() -> None:
        order = CallOrder()
        async with asyncio.TaskGroup() as group:
            for name, label in (("a", "1"), ("b", "2"), ("capability", "alone"), ("c", "3"), ("d", "4")):
                group.create_task(one(order, name, label))
        async with order.place("a"):  # a tool that calls another one of its conversation waits for nothing
            await one(order, "capability", "inner")

    asyncio.run(run())
    assert events[4:6] == ["alone begins", "alone ends"]
    assert events[:2] == ["1 begins", "2 begins"]
    assert events[6:8] == ["3 begins", "4 begins"]
    assert events[-2:] == ["inner begins", "inner ends"]

    async def script(conversation: Conversation) -> None:
        calls = [
            conversation.call("capability", {"action": "enable", "name": "weather"}),
            conversation.call("sky__forecast", {"city": "Oslo"}),
        ]
        assert [answer.failed for answer in await asyncio.gather(*calls)] == [False, False]

    talk(adapter_fleet, script)


def test_a_history_is_repaired_aged_and_pruned(adapter_fleet: AdapterFleet) -> None:
    """A call without a result gets one, an old long result is stored once, and pairs stay together."""
    text = "\n".join(f"line {number}" for number in range(1_000))
    history: Messages = [user("one"), called(1), result(1, text), user("two"), called(2), user("three"), called(3)]
    history += [result(3, "short")]
    history += [message for n in range(4, 12) for message in (user(f"turn {n}"), called(n), result(n, "short"))]

    async def script(conversation: Conversation) -> None:
        before = [*history]
        first = await conversation.shorten(history, "openai")
        second = await conversation.shorten(history, "openai")
        assert first.messages == second.messages
        assert history == before
        assert [repair.kind for repair in first.repairs] == ["interrupted"]
        assert set(first.aged) == {"c1"}
        answer = await conversation.call("read_result", {"handle": first.aged["c1"]})
        assert answer.text.startswith("line 0\nline 1\n")
        assert first.dropped == 0

    talk(adapter_fleet, script)

    async def pruned(conversation: Conversation) -> None:
        done = await conversation.shorten(history, "openai")
        asked = {call["id"] for one in done.messages for call in one.get("tool_calls", ())}
        assert (
            asked
            == {one["tool_call_id"] for one in done.messages if one["role"] == "tool"}
            == {"c8", "c9", "c10", "c11"}
        )
        assert done.dropped == len(history) + 1 - len(done.messages)

    talk(adapter_fleet, pruned, budget_tokens=100_000, pruner=SlidingWindow(turns=4))


def test_native_messages_come_back(adapter_fleet: AdapterFleet) -> None:
    """Unchanged messages of a framework come back as the same objects, changed ones converted, new ones made."""
    native = [("user", "one"), ("call", 1), ("user", "two"), ("call", 2), ("result", 2)]

    def to_neutral(message: tuple[str, Any]) -> dict[str, Any]:
        kind, value = message
        return user(value) if kind == "user" else called(value) if kind == "call" else result(value, "x")

    async def script(conversation: Conversation) -> None:
        done = await conversation.shorten_native(native, to_neutral, lambda new, old: (new["tool_call_id"], old))
        assert done.messages == [native[0], native[1], ("c1", None), *native[2:]]
        assert all(any(one is old for old in native) for one in done.messages if one[1] is not None)

    talk(adapter_fleet, script)
    assert NATIVE not in to_neutral(native[0])


def test_texts_of_skills_follow_their_message(tmp_path: Path) -> None:
    """The text of a skill that a message uses stands after the message in each request, while the skill is in use."""
    builder = WorkspaceBuilder(tmp_path).agent("clerk", skills=["greeting"])
    builder.skill("greeting", "Say good day.", domains="office", rules=["content(hello)"])
    bundle = builder.build().bundle
    assert bundle is not None

    async def script(conversation: Conversation) -> None:
        history = [user("hello there")]
        turn = await conversation.take(history, "openai")
        assert turn is not None
        (text,) = turn.skill_texts
        assert "Say good day." in text
        history += [{"role": "assistant", "content": "Good day."}, user("thanks")]
        assert (await conversation.shorten(history, "openai")).messages[1] == user(text)
        await conversation.session.forget_skill("greeting")
        assert (await conversation.shorten(history, "openai")).messages == history

    talk(AdapterFleet(bundle=bundle, direct_tools=0, direct_tokens=0), script)


def test_the_instructions_are_the_prompts_of_the_bundle(adapter_fleet: AdapterFleet) -> None:
    """The agent's own prompt comes first, then the section on its servers."""

    async def script(conversation: Conversation) -> None:
        assert conversation.instructions.startswith("You are the clerk.\n\n")
        assert conversation.instructions.endswith(conversation.session.servers_prompt)

    talk(adapter_fleet, script)
