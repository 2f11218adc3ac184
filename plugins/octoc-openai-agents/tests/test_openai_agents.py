"""Agents of OpenAI's Agents SDK with tools of octoc, by the real library and a scripted model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="the Agents SDK has environments of its own: run `make adapters`")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.openai_responses import Converter
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from octoc.adapters import AdapterTool, Conversation, Turn
from octoc.runtime import SlidingWindow
from octoc.testing import AdapterFleet, page_examples
from octoc_explain import ModelExplainer
from octoc_openai_agents import OctocAgent, shorten_history
from octoc_openai_agents import function_tool as octoc_tool

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "openai-agents.md").read_text(encoding="utf-8")
SHORTENED = RunConfig(call_model_input_filter=shorten_history)
set_tracing_disabled(disabled=True)


class ScriptedModel(Model):  # type: ignore[misc]  # the library is not installed where mypy runs
    """Answers with fixed outputs, and keeps its requests: instructions, items and tools."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[tuple[str | None, list[Any], list[Any]]] = []

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002  # the SDK's word
        model_settings: Any,
        tools: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        self.requests.append((system_instructions, list(input), list(tools)))
        reply = self.replies.pop(0)
        output = [said(reply)] if isinstance(reply, str) else reply
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def shown(self, request: int) -> list[str]:
        """Return the names of the tools of a request."""
        return [tool.name for tool in self.requests[request][2]]


def said(text: str) -> ResponseOutputMessage:
    """Return a message of the model."""
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=content)


def called(number: int, name: str, arguments: dict[str, Any] | str | None = None) -> ResponseFunctionToolCall:
    """Return a call of the model, whose id is `c1` for 1."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ResponseFunctionToolCall(name=name, arguments=text, call_id=f"c{number}", type="function_call")


def user(text: str) -> dict[str, str]:
    """Return a message of the user, as an item."""
    return {"role": "user", "content": text}


def talk(fleet: AdapterFleet, script: Callable[[Conversation], Awaitable[None]], **options: Any) -> None:
    """Run a script on a conversation with the clerk."""

    async def run() -> None:
        async with fleet.open() as runtime:
            await script(Conversation(fleet.session(runtime), **options))

    asyncio.run(run())


async def ask(agent: OctocAgent, message: Any, *, context: Any = None) -> Any:
    """Return a run with a shortened history, as with any release."""
    await agent.take(message, context)
    return await Runner.run(agent, message, context=context, run_config=SHORTENED)


def outputs(result: Any) -> list[Any]:
    """Return the outputs of the calls of a run."""
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


def test_a_message_activates_its_tools_before_the_model_is_asked(adapter_fleet: AdapterFleet) -> None:
    """The first request has the tools of the message, the next message evicts them, and the host hears of both."""
    turns: list[Turn] = []
    model = ScriptedModel([called(1, "sky__forecast", {"city": "Oslo"})], "cold", "two")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        first = await ask(agent, AdapterFleet.WEATHER_MESSAGE)
        await ask(agent, [*first.to_input_list(), user(AdapterFleet.INVOICES_MESSAGE)])
        assert model.requests[0][0] == conversation.instructions

    talk(adapter_fleet, script, on_turn=turns.append)
    assert "sky__forecast" in model.shown(0)
    assert model.shown(1) == model.shown(0)
    assert "ledger__list_invoices" in model.shown(2)
    assert "sky__forecast" not in model.shown(2)
    assert [(turn.activated, turn.evicted) for turn in turns] == [(("weather",), ()), (("invoices",), ("weather",))]


def test_a_run_routes_by_itself(adapter_fleet: AdapterFleet) -> None:
    """From release 0.23 on, a run has the tools of its message without `take`."""
    if tuple(map(int, version("openai-agents").split(".")[:2])) < (0, 23):
        pytest.skip("runs of this release ask for tools before they know their input")
    turns: list[Turn] = []
    model = ScriptedModel([called(1, "sky__forecast", {"city": "Oslo"})], "cold")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        await Runner.run(agent, [user("hello"), said("hi").model_dump(), user(AdapterFleet.WEATHER_MESSAGE)])

    talk(adapter_fleet, script, on_turn=turns.append)
    assert "sky__forecast" in model.shown(0)
    assert len(turns) == 1


def test_a_tool_is_found_and_called(adapter_fleet: AdapterFleet) -> None:
    """The model searches for a tool that no request shows, and calls it."""
    search = called(1, "find_tools", {"query": "log what the crane did"})
    call = called(2, "call_mcp_tool", {"tool_name": "archive__log_crane", "arguments": {}})
    model = ScriptedModel([search], [call], "done")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        found, made = outputs(await ask(agent, "note what the crane did"))
        assert "archive__log_crane" in found.text
        assert (made.text, made.failed) == ("logged", False)

    talk(adapter_fleet, script)
    assert "archive__log_crane" not in model.shown(0)


def test_outcomes_of_parallel_calls(adapter_fleet: AdapterFleet) -> None:
    """Calls of one response run at the same time; failures are outputs, and structured content is kept."""
    wanted = [
        called(1, "desk__meet", {"name": "a"}),
        called(2, "desk__meet", {"name": "b"}),
        called(3, "sky__forecast", {"city": "Oslo"}),
        called(4, "desk__whoami"),
        called(5, "desk__refuse"),
        called(6, "desk__read_note", {"nome": "tea"}),
        called(7, "desk__read_note", "{not JSON"),
        called(8, "desk__picture"),
    ]
    model = ScriptedModel(wanted, "done")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        result = await ask(agent, AdapterFleet.WEATHER_MESSAGE)
        one, two, forecast, caller, refused, malformed, broken, picture = outputs(result)
        assert [one.text, two.text] == ["a met 2", "b met 2"]
        assert (forecast.text, forecast.structured) == ("cold, then mild", AdapterFleet.FORECAST)
        assert caller.text == f"{AdapterFleet.TENANT}/{AdapterFleet.USER}"
        assert (refused.failed, refused.text) == (True, "the archive is closed")
        assert [malformed.kind, broken.kind] == ["bad_request", "bad_request"]
        assert picture[0].image_url.startswith("data:image/png;base64,")
        assert result.final_output == "done"

    talk(adapter_fleet, script)
    read = {item["call_id"]: item["output"] for item in model.requests[1][1] if "output" in item}
    assert read["c3"] == "cold, then mild"
    assert read["c5"] == "the archive is closed"
    assert read["c8"][0]["type"] == "input_image"


def test_a_stored_run_keeps_structured_content(adapter_fleet: AdapterFleet) -> None:
    """Releases that keep data beside outputs have structured content in the stored run."""
    model = ScriptedModel([called(1, "sky__forecast", {"city": "Oslo"})], "done")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        result = await ask(agent, AdapterFleet.WEATHER_MESSAGE)
        (item,) = (item for item in result.new_items if item.type == "tool_call_output_item")
        if not hasattr(item, "custom_data"):
            pytest.skip("this release keeps no data beside an output")
        assert item.custom_data == {"structured": AdapterFleet.FORECAST}

    talk(adapter_fleet, script)


def test_a_cut_result_is_read_on(adapter_fleet: AdapterFleet) -> None:
    """A long result is cut, and the model reads on by its handle."""

    async def script(conversation: Conversation) -> None:
        model = ScriptedModel([called(1, "desk__report")], "and then?")
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        first = await ask(agent, "the report, please")
        (cut,) = outputs(first)
        assert cut.handle in cut.text
        model.replies += [[called(2, "read_result", {"handle": cut.handle, "offset": 46_000})], "end"]
        second = await ask(agent, [*first.to_input_list(), user("read on")])
        assert f"line {AdapterFleet.REPORT_LINES - 1} of the report" in outputs(second)[0].text

    talk(adapter_fleet, script)


def test_a_history_is_repaired_aged_and_pruned(adapter_fleet: AdapterFleet) -> None:
    """The model gets whole pairs, an old long result by its head, and few turns; the run keeps every item."""
    history: list[Any] = []
    for number in range(1, 9):
        text = "long " * 2_000 if number == 6 else "short"
        history += [user(f"turn {number}"), called(number, "desk__report").model_dump(exclude_none=True)]
        history.append({"type": "function_call_output", "call_id": f"c{number}", "output": text})
        history.append(said(f"that was {number}").model_dump(exclude_none=True))
    history += [user("again"), called(20, "desk__report").model_dump(exclude_none=True)]
    history.append({"type": "function_call_output", "call_id": "c99", "output": "whose?"})
    model = ScriptedModel("done")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(name="clerk", model=model, conversation=conversation)
        result = await ask(agent, [*history, user("and now?")])
        assert len(result.to_input_list()) == len(history) + 2

    talk(adapter_fleet, script, budget_tokens=100_000, pruner=SlidingWindow(turns=5))
    sent = model.requests[0][1]
    asked = [item["call_id"] for item in sent if item.get("type") == "function_call"]
    answered = {item["call_id"]: item["output"] for item in sent if item.get("type") == "function_call_output"}
    assert asked == list(answered) == ["c6", "c7", "c8", "c20"]
    assert "read_result" in answered["c6"]
    assert len(answered["c6"]) < 4_100
    assert "interrupted" in answered["c20"]
    assert sent[0] == user("turn 6")


def test_the_first_request_costs_what_the_build_said(adapter_fleet: AdapterFleet) -> None:
    """The tools of a first request are the build's, each in the SDK's wrapper, counted for an empty tool."""
    model = ScriptedModel("hello")

    async def script(conversation: Conversation) -> None:
        await Runner.run(OctocAgent(name="clerk", model=model, conversation=conversation), "hello")
        empty = AdapterTool(
            name="", description="", parameters={**adapter_fleet.EMPTY_SCHEMA}, conversation=conversation
        )
        (wrapped,) = Converter.convert_tools([octoc_tool(empty)], []).tools
        wrapper = tokens(wrapped) - adapter_fleet.empty_tool_tokens()
        sent = Converter.convert_tools(model.requests[0][2], []).tools
        assert len(sent) == adapter_fleet.direct_tools
        assert sum(map(tokens, sent)) == adapter_fleet.direct_tokens + adapter_fleet.direct_tools * wrapper

    talk(adapter_fleet, script)


def tokens(tool: Any) -> int:
    """Return the tokens of a tool: characters of compact JSON, as the fleet's counter counts."""
    return len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))


def test_what_the_host_gives_the_agent_stays(adapter_fleet: AdapterFleet) -> None:
    """Tools and instructions of the host's own count; an agent of the SDK alone sends its history as it is."""

    def own() -> str:
        return "mine"

    model = ScriptedModel([called(1, "own"), called(2, "desk__whoami")], "done", "plain")

    async def script(conversation: Conversation) -> None:
        agent = OctocAgent(
            name="a", instructions="Mine.", tools=[function_tool(own)], model=model, conversation=conversation
        )
        assert [str(one) for one in outputs(await ask(agent, "hello"))] == ["mine", "acme/u1"]
        handed = Agent(name="plain", model=model)
        assert (await Runner.run(handed, "hello", run_config=SHORTENED)).final_output == "plain"

    talk(adapter_fleet, script)
    assert model.requests[0][0] == "Mine."
    assert model.shown(0)[0] == "own"
    with pytest.raises(ValueError, match="agent `b` has no conversation"):
        asyncio.run(Runner.run(OctocAgent(name="b", model=model), "hello"))


def test_the_agent_of_the_page(
    adapter_fleet: AdapterFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The complete agent answers two messages, and reports what they change."""
    defined = page_examples(PAGE)
    model = ScriptedModel([called(1, "sky__forecast", {"city": "Oslo"})], "It gets cold.", "Two.")
    messages = iter([AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, ""])
    runtime = adapter_fleet.open()
    monkeypatch.setitem(defined, "OctocAgent", lambda **given: OctocAgent(**{**given, "model": model}))
    monkeypatch.setitem(defined, "input", lambda _: next(messages))
    monkeypatch.setattr(defined["Runtime"], "open", lambda _: runtime)
    asyncio.run(defined["main"]())
    printed = capsys.readouterr().out
    assert "activated ('invoices',), evicted ('weather',)" in printed
    assert "It gets cold.\n" in printed
    assert len(model.requests[2][1]) == 5


def test_a_model_explains_a_failure(adapter_fleet: AdapterFleet, caplog: pytest.LogCaptureFixture) -> None:
    """The page's function asks a model of the SDK; when the model fails, the failure keeps its own text."""
    (code,) = re.findall(r"\| OpenAI Agents \| `(.*)` \|", (DOCS / "explain.md").read_text(encoding="utf-8"))
    model = ScriptedModel("The archive opens at nine.")
    defined: dict[str, Any] = {"model": model, "Agent": Agent, "Runner": Runner}
    exec(f"async def ask(instructions, report):\n    {code}", defined)  # noqa: S102  # the project's own page
    explainer = ModelExplainer(defined["ask"])
    assert adapter_fleet.failed_call(explainer) == "[Tool error] The archive opens at nine."
    instructions, (report,), shown = model.requests[0]
    assert instructions is not None
    assert instructions.startswith("A tool call of an AI agent failed.")
    assert json.loads(report["content"])["message"] == "the archive is closed"
    assert shown == []
    assert "the archive is closed" in adapter_fleet.failed_call(explainer)
    assert "was not explained: IndexError" in caplog.text


def test_one_agent_serves_many_threads(adapter_fleet: AdapterFleet) -> None:
    """Each thread and user has a session of its own, as the page shows."""
    defined = page_examples(PAGE)
    model = ScriptedModel("cold", "hello", [called(1, "desk__whoami")], "done")

    async def run() -> None:
        async with adapter_fleet.open() as runtime:
            agent = defined["agent_for_all"](runtime).clone(model=model)
            for name, text in (("u1", AdapterFleet.WEATHER_MESSAGE), ("u2", "hello"), ("u2", "who am I?")):
                result = await ask(agent, text, context=defined["Visit"]("t", name))
            assert outputs(result)[0].text == "acme/u2"

    asyncio.run(run())
    assert "sky__forecast" in model.shown(0)
    assert "sky__forecast" not in model.shown(1)
