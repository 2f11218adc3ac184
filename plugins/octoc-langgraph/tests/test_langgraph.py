"""Agents of LangChain and LangGraph with tools of octoc, by the real libraries and a scripted model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="LangChain has environments of its own: run `make adapters`")

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from octoc.adapters import AdapterTool, Conversation, Turn
from octoc.runtime import SlidingWindow
from octoc.testing import AdapterFleet, page_examples
from octoc_explain import ModelExplainer
from octoc_langgraph import OctocMiddleware, OctocTool, pre_model_node, tools

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "langgraph.md").read_text(encoding="utf-8")


class ScriptedModel(BaseChatModel):  # type: ignore[misc]  # the library is not installed where mypy runs
    """Answers with fixed messages, and keeps its requests: messages, and tools as an OpenAI client sends them."""

    replies: list[AIMessage]
    requests: list[tuple[list[BaseMessage], list[dict[str, Any]]]] = []  # noqa: RUF012  # pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        self.requests.append((list(messages), kwargs.get("tools", [])))
        return ChatResult(generations=[ChatGeneration(message=self.replies.pop(0))])

    def shown(self, request: int) -> list[str]:
        """Return the names of the tools of a request."""
        return [tool["function"]["name"] for tool in self.requests[request][1]]


def calls(*wanted: tuple[str, dict[str, Any]], first: int = 1) -> AIMessage:
    """Return a message of the model with calls, whose ids are `c1` and so on."""
    made = [
        {"name": name, "args": arguments, "id": f"c{number}", "type": "tool_call"}
        for number, (name, arguments) in enumerate(wanted, first)
    ]
    return AIMessage("", tool_calls=made)


def model_of(*replies: AIMessage | str) -> ScriptedModel:
    """Return a model with these replies."""
    return ScriptedModel(replies=[AIMessage(one) if isinstance(one, str) else one for one in replies])


def user(text: str) -> dict[str, str]:
    """Return a message of the user, as an input."""
    return {"role": "user", "content": text}


def talk(fleet: AdapterFleet, script: Callable[[Conversation], Awaitable[None]], **options: Any) -> None:
    """Run a script on a conversation with the clerk."""

    async def run() -> None:
        async with fleet.open() as runtime:
            await script(Conversation(fleet.session(runtime), **options))

    asyncio.run(run())


def results(state: Any) -> list[ToolMessage]:
    """Return the results of calls in a state."""
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def test_a_message_activates_its_tools_before_the_model_is_asked(adapter_fleet: AdapterFleet) -> None:
    """The first request has the tools of the message, the next message evicts them, and the host hears of both."""
    turns: list[Turn] = []
    model = model_of(calls(("sky__forecast", {"city": "Oslo"})), "cold", "two")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [user(AdapterFleet.WEATHER_MESSAGE)]})
        await agent.ainvoke({"messages": [*state["messages"], user(AdapterFleet.INVOICES_MESSAGE)]})
        assert model.requests[0][0][0].content == conversation.instructions

    talk(adapter_fleet, script, on_turn=turns.append)
    assert "sky__forecast" in model.shown(0)
    assert model.shown(1) == model.shown(0)
    assert "ledger__list_invoices" in model.shown(2)
    assert "sky__forecast" not in model.shown(2)
    assert [(turn.activated, turn.evicted) for turn in turns] == [(("weather",), ()), (("invoices",), ("weather",))]


def test_a_tool_is_found_and_called(adapter_fleet: AdapterFleet) -> None:
    """The model searches for a tool that no request shows, and calls it."""
    search = calls(("find_tools", {"query": "log what the crane did"}))
    call = calls(("call_mcp_tool", {"tool_name": "archive__log_crane", "arguments": {}}), first=2)
    model = model_of(search, call, "done")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [user("note what the crane did")]})
        found, made = results(state)
        assert "archive__log_crane" in found.content
        assert (made.content, made.status) == ("logged", "success")

    talk(adapter_fleet, script)
    assert "archive__log_crane" not in model.shown(0)


def test_outcomes_of_parallel_calls(adapter_fleet: AdapterFleet) -> None:
    """Calls of one message run at the same time; failures are messages, and structured content is the artifact."""
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("desk__meet", {"name": "a"}),
        ("desk__meet", {"name": "b"}),
        ("sky__forecast", {"city": "Oslo"}),
        ("desk__whoami", {}),
        ("desk__refuse", {}),
        ("desk__read_notes", {}),
        ("desk__read_note", {"nome": "tea"}),
        ("desk__picture", {}),
    ]
    model = model_of(calls(*wanted), "done")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [user(AdapterFleet.WEATHER_MESSAGE)]})
        one, two, forecast, caller, refused, unknown, malformed, picture = results(state)
        assert [one.content, two.content] == ["a met 2", "b met 2"]
        assert (forecast.content, forecast.artifact) == ("cold, then mild", {"structured": AdapterFleet.FORECAST})
        assert caller.content == f"{AdapterFleet.TENANT}/{AdapterFleet.USER}"
        assert (refused.status, refused.content) == ("error", "the archive is closed")
        assert (unknown.status, unknown.artifact["kind"]) == ("error", "not_found")
        assert "desk__read_note" in unknown.content
        assert (malformed.status, malformed.artifact["kind"]) == ("error", "bad_request")
        assert picture.content[0]["mime_type"] == "image/png"
        assert state["messages"][-1].content == "done"

    talk(adapter_fleet, script)


def test_a_cut_result_is_read_on(adapter_fleet: AdapterFleet) -> None:
    """A long result is cut, and the model reads on by its handle."""

    async def script(conversation: Conversation) -> None:
        model = model_of(calls(("desk__report", {})), "and then?")
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [user("the report, please")]})
        handle = results(state)[0].artifact["handle"]
        model.replies.extend([calls(("read_result", {"handle": handle, "offset": 46_000}), first=2), AIMessage("end")])
        state = await agent.ainvoke({"messages": [*state["messages"], user("read on")]})
        assert handle in results(state)[0].content
        assert f"line {AdapterFleet.REPORT_LINES - 1} of the report" in results(state)[1].content

    talk(adapter_fleet, script)


def test_a_history_is_repaired_aged_and_pruned(adapter_fleet: AdapterFleet) -> None:
    """The model gets whole pairs, an old long result by its head, and few turns; the state keeps every message."""
    history: list[BaseMessage] = []
    for number in range(1, 9):
        text = "long " * 2_000 if number == 6 else "short"
        history += [HumanMessage(f"turn {number}"), calls(("desk__report", {}), first=number)]
        history += [ToolMessage(text, tool_call_id=f"c{number}"), AIMessage(f"that was {number}")]
    lost = calls(("desk__report", {}), first=20)
    history += [HumanMessage("again"), lost, ToolMessage("whose?", tool_call_id="c99")]
    model = model_of("done")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [*history, user("and now?")]})
        assert len(state["messages"]) == len(history) + 2

    talk(adapter_fleet, script, budget_tokens=100_000, pruner=SlidingWindow(turns=5))
    sent = model.requests[0][0][1:]
    asked = [call["id"] for one in sent if isinstance(one, AIMessage) for call in one.tool_calls]
    answered = {one.tool_call_id: one for one in sent if isinstance(one, ToolMessage)}
    assert asked == list(answered) == ["c6", "c7", "c8", "c20"]
    assert "read_result" in answered["c6"].content
    assert len(answered["c6"].content) < 4_100
    assert "interrupted" in answered["c20"].content
    assert sent[0].content == "turn 6"


def test_a_call_that_is_left_out_leaves_no_trace(adapter_fleet: AdapterFleet) -> None:
    """The copy of a call also leaves the blocks and fields in which providers repeat calls."""
    call = {"name": "desk__whoami", "args": {}, "id": "c1", "type": "tool_call"}
    block = {"type": "tool_use", "id": "c1", "name": "desk__whoami", "input": {}}
    copy = AIMessage(
        [{"type": "text", "text": "again"}, block], tool_calls=[call], additional_kwargs={"tool_calls": [{"id": "c1"}]}
    )
    history = [HumanMessage("who?"), AIMessage("", tool_calls=[call]), ToolMessage("you", tool_call_id="c1"), copy]
    model = model_of("done")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        await agent.ainvoke({"messages": [*history, user("really?")]})

    talk(adapter_fleet, script)
    left = model.requests[0][0][4]
    assert left.content == [{"type": "text", "text": "again"}]
    assert (left.tool_calls, left.additional_kwargs) == ([], {})


def test_the_first_request_costs_what_the_build_said(adapter_fleet: AdapterFleet) -> None:
    """The tools of a first request are the build's, each in LangChain's wrapper, counted for an empty tool."""
    model = model_of("hello")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, middleware=[OctocMiddleware(conversation)])
        await agent.ainvoke({"messages": [user("hello")]})
        empty = AdapterTool(
            name="", description="", parameters={**adapter_fleet.EMPTY_SCHEMA}, conversation=conversation
        )
        wrapper = tokens(convert_to_openai_tool(OctocTool.of(empty))) - adapter_fleet.empty_tool_tokens()
        sent = model.requests[0][1]
        assert len(sent) == adapter_fleet.direct_tools
        assert sum(map(tokens, sent)) == adapter_fleet.direct_tokens + adapter_fleet.direct_tools * wrapper

    talk(adapter_fleet, script)


def tokens(tool: dict[str, Any]) -> int:
    """Return the tokens of a tool: characters of compact JSON, as the fleet's counter counts."""
    return len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))


def test_tools_of_the_host_stay(adapter_fleet: AdapterFleet) -> None:
    """The host's tools are shown and called beside those of octoc, and instead of those with the same name."""
    own = [
        StructuredTool.from_function(func=lambda: "mine", name=name, description="The host's own")
        for name in ("own", "desk__report")
    ]
    model = model_of(calls(("own", {}), ("desk__whoami", {}), ("desk__report", {})), "done")

    async def script(conversation: Conversation) -> None:
        agent = create_agent(model, tools=own, system_prompt="Mine.", middleware=[OctocMiddleware(conversation)])
        state = await agent.ainvoke({"messages": [user("hello")]})
        assert [message.content for message in results(state)] == ["mine", "acme/u1", "mine"]
        assert model.requests[0][0][0].content == "Mine."

    talk(adapter_fleet, script)
    assert model.shown(0)[:2] == ["own", "desk__report"]
    assert len(set(model.shown(0))) == len(model.shown(0))


def test_the_agent_of_the_page(
    adapter_fleet: AdapterFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The complete agent answers two messages, and reports what they change."""
    defined = page_examples(PAGE)
    model = model_of(calls(("sky__forecast", {"city": "Oslo"})), "It gets cold.", "Two.")
    messages = iter([AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, ""])
    monkeypatch.setitem(defined, "init_chat_model", lambda _: model)
    monkeypatch.setitem(defined, "input", lambda _: next(messages))
    runtime = adapter_fleet.open()
    monkeypatch.setattr(defined["Runtime"], "open", lambda _: runtime)
    asyncio.run(defined["main"]())
    said = capsys.readouterr().out
    assert "activated ('invoices',), evicted ('weather',)" in said
    assert "It gets cold.\n" in said
    assert [message.type for message in model.requests[2][0]] == ["system", "human", "ai", "tool", "ai", "human"]


def test_a_graph_of_ones_own(adapter_fleet: AdapterFleet) -> None:
    """The nodes of the page route, show the tools of the message, and make its calls at the same time."""
    meet = calls(("desk__meet", {"name": "a"}), ("desk__meet", {"name": "b"}), ("desk__refuse", {}))
    model = model_of(meet, "done")

    async def script(conversation: Conversation) -> None:
        graph = page_examples(PAGE)["graph_of"](conversation, model)
        state = await graph.ainvoke({"messages": [user(AdapterFleet.WEATHER_MESSAGE)]})
        assert [message.status for message in results(state)] == ["success", "success", "error"]
        assert state["messages"][-1].content == "done"

    talk(adapter_fleet, script)
    assert "sky__forecast" in model.shown(0)


def test_one_graph_serves_many_threads(adapter_fleet: AdapterFleet) -> None:
    """Each thread and user has a session of its own, as the page shows."""
    model = model_of("cold", "hello", calls(("desk__whoami", {})), "done")

    async def run() -> None:
        async with adapter_fleet.open() as runtime:
            agent = page_examples(PAGE)["agent_for_all"](runtime, model)
            for user_name, text in (("u1", AdapterFleet.WEATHER_MESSAGE), ("u2", "hello"), ("u2", "who am I?")):
                config = {"configurable": {"thread_id": "t", "user": user_name}}
                state = await agent.ainvoke({"messages": [user(text)]}, config)
            assert results(state)[0].content == "acme/u2"

    asyncio.run(run())
    assert "sky__forecast" in model.shown(0)
    assert "sky__forecast" not in model.shown(1)


def test_annotations_are_metadata(adapter_fleet: AdapterFleet) -> None:
    """The metadata of a tool, which callbacks get too, has the annotations of its server."""

    async def script(conversation: Conversation) -> None:
        metadata = {tool.name: tool.metadata for tool in tools(conversation)}
        assert metadata["desk__whoami"] == AdapterFleet.ANNOTATIONS
        assert metadata["desk__report"] is None

    talk(adapter_fleet, script)


def test_a_model_explains_a_failure(adapter_fleet: AdapterFleet, caplog: pytest.LogCaptureFixture) -> None:
    """The page's function asks a model of LangChain; when the model fails, the failure keeps its own text."""
    (code,) = re.findall(r"\| LangChain \| `(.*)` \|", (DOCS / "explain.md").read_text(encoding="utf-8"))
    defined: dict[str, Any] = {"model": (model := model_of("The archive opens at nine."))}
    exec(f"async def ask(instructions, report):\n    {code}", defined)  # noqa: S102  # the project's own page
    explainer = ModelExplainer(defined["ask"])
    assert adapter_fleet.failed_call(explainer) == "[Tool error] The archive opens at nine."
    instructions, report = model.requests[0][0]
    assert (instructions.type, report.type) == ("system", "human")
    assert json.loads(report.content)["message"] == "the archive is closed"
    assert "the archive is closed" in adapter_fleet.failed_call(explainer)
    assert "was not explained: IndexError" in caplog.text


def test_a_tool_by_itself(adapter_fleet: AdapterFleet) -> None:
    """Without an agent a tool answers with its text, and not in a synchronous call."""

    async def script(conversation: Conversation) -> None:
        tool = OctocTool.named("desk__read_note", conversation)
        assert await tool.ainvoke({"name": "tea"}) == "tea: tea at four"
        with pytest.raises(NotImplementedError, match="ainvoke"):
            tool.invoke({"name": "tea"})
        sent = await pre_model_node(conversation)({"messages": [HumanMessage("hello")]})
        assert [one.content for one in sent["llm_input_messages"]] == ["hello"]

    talk(adapter_fleet, script)
