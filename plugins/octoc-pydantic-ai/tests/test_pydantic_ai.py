"""Agents of the real pydantic-ai with a scripted model, whose tools, routing and history are octoc's."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai has environments of its own: run `make adapters`")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import Tool

from octoc.adapters import Conversation
from octoc.runtime import Runtime
from octoc.testing import AdapterFleet, page_examples
from octoc_explain import ModelExplainer
from octoc_pydantic_ai import Octoc, shortened

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "pydantic-ai.md").read_text(encoding="utf-8")


class Script:
    """A model that answers with one step after another: a text, calls as (name, arguments), or what a function makes.

    `requests` has the messages, `infos` all else, and `tools` the names of the tools, of each request.
    """

    def __init__(self, *steps: Any) -> None:
        self.requests: list[list[ModelMessage]] = []
        self.tools: list[list[str]] = []
        self.infos: list[AgentInfo] = []
        self._steps = iter(steps)
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append(messages)
        self.tools.append([tool.name for tool in info.function_tools])
        self.infos.append(info)
        step = next(self._steps)
        step = step(messages) if callable(step) else step
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        return ModelResponse(parts=[ToolCallPart(name, given) for name, given in step])


def results(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    """Return the results in messages."""
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


@pytest.fixture
def talk(adapter_fleet: AdapterFleet) -> Callable[..., Any]:
    """A function that has a scripted agent answer messages of one user, and returns the last run's result."""

    def talked(script: Script, *texts: Any, **options: Any) -> Any:
        async def scenario() -> Any:
            async with adapter_fleet.open() as runtime:
                session = adapter_fleet.session(runtime)
                agent = Agent(script.model, capabilities=[Octoc(Conversation(session, **options))])
                history: Any = None
                for text in texts:
                    done = await agent.run(text, message_history=history)
                    history = done.all_messages()
                return done

        return asyncio.run(scenario())

    return talked


def test_search_and_a_call_of_what_was_found(talk: Callable[..., Any]) -> None:
    """The model searches for a tool that it was not shown, and calls it by octoc's own tool."""
    script = Script(
        [("find_tools", {"query": "log what a crane did"})],
        [("call_mcp_tool", {"tool_name": "archive__log_crane", "arguments": {}})],
        "done",
    )
    assert talk(script, "hello").output == "done"
    found, called = results(script.requests[-1])
    assert "archive__log_crane" in found.content
    assert (called.content, called.outcome) == ("logged", "success")


def test_a_message_activates_and_the_next_one_evicts(talk: Callable[..., Any]) -> None:
    """The tools of a capability are there in the first request of its message, and leave for those of another one."""
    turns: list[Any] = []
    script = Script([("sky__forecast", {"city": "Oslo"})], "cold", "two")
    talk(script, AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, on_turn=turns.append)
    assert "sky__forecast" in script.tools[0]
    assert "sky__forecast" in script.tools[1]
    assert "sky__forecast" not in script.tools[2]
    assert "ledger__list_invoices" in script.tools[2]
    assert [(turn.activated, turn.evicted) for turn in turns] == [(("weather",), ()), (("invoices",), ("weather",))]


def test_structured_content_is_kept(talk: Callable[..., Any]) -> None:
    """The model reads the text, and the host finds the structured content in the part's metadata."""
    script = Script([("sky__forecast", {"city": "Oslo"})], "cold")
    (forecast,) = results(talk(script, AdapterFleet.WEATHER_MESSAGE).all_messages())
    assert (forecast.content, forecast.metadata) == ("cold, then mild", {"structured": AdapterFleet.FORECAST})


def test_a_cut_result_is_read_on(talk: Callable[..., Any]) -> None:
    """A long result has a handle, with which the model reads its end."""

    def read_on(messages: list[ModelMessage]) -> Any:
        (cut,) = results(messages)
        assert "line 1999 of" not in cut.content
        return [("read_result", {"handle": cut.metadata["handle"], "offset": 45_000})]

    script = Script([("desk__report", {})], read_on, "done")
    _, page = results(talk(script, "hello").all_messages())
    assert "line 1999 of the report" in page.content


def test_a_failure_is_a_value(talk: Callable[..., Any]) -> None:
    """A tool's error, arguments that do not fit and a name that octoc does not know are results; the run goes on."""
    script = Script(
        [("desk__refuse", {}), ("desk__read_note", {}), ("call_mcp_tool", {"tool_name": "no__such", "arguments": {}})],
        "done",
    )
    assert talk(script, "hello").output == "done"
    parts = {part.tool_name: part for part in results(script.requests[1])}
    assert {part.outcome for part in parts.values()} == {"failed"}
    assert "the archive is closed" in parts["desk__refuse"].content
    assert "name" in parts["desk__read_note"].content
    assert "no__such" in parts["call_mcp_tool"].content


def test_calls_of_one_turn_run_at_the_same_time(talk: Callable[..., Any]) -> None:
    """Two calls that wait for each other both end, and each result belongs to its call."""
    script = Script([("desk__meet", {"name": "a"}), ("desk__meet", {"name": "b"})], "done")
    talk(script, "hello")
    assert [part.content for part in results(script.requests[1])] == ["a met 2", "b met 2"]


def test_tenant_and_user_arrive(talk: Callable[..., Any]) -> None:
    """A tool knows the tenant and the user of its call."""
    script = Script([("desk__whoami", {})], "done")
    assert results(talk(script, "hello").all_messages())[0].content == f"{AdapterFleet.TENANT}/{AdapterFleet.USER}"


def test_an_image_is_an_image(talk: Callable[..., Any]) -> None:
    """An image of a result is binary content, which models read."""
    script = Script([("desk__picture", {})], "done")
    (picture,) = results(talk(script, "hello").all_messages())
    (image,) = picture.files
    assert isinstance(image, BinaryContent)
    assert image.media_type == "image/png"


def test_the_agents_own_prompt_is_the_instruction(talk: Callable[..., Any]) -> None:
    """The model gets the agent's prompt and the section on its servers."""
    script = Script("done")
    talk(script, "hello")
    assert (script.infos[0].instructions or "").startswith("You are the clerk.")


def test_annotations_are_metadata(talk: Callable[..., Any]) -> None:
    """A tool's metadata has the annotations of its server, for filters of pydantic-ai."""
    script = Script("done")
    talk(script, "hello")
    metadata = {tool.name: tool.metadata for tool in script.infos[0].function_tools}
    assert metadata["desk__whoami"] == {"annotations": AdapterFleet.ANNOTATIONS}
    assert metadata["desk__report"] == {"annotations": {}}


def test_a_long_history_is_pruned_in_pairs(talk: Callable[..., Any]) -> None:
    """A request has what fits into the budget, each call with its result, and the run's own history stays whole."""
    steps = [step for number in range(12) for step in ([("desk__read_note", {"name": f"n{number}"})], f"said {number}")]
    script = Script(*steps)
    done = talk(script, *(f"message {number} {'word ' * 30}" for number in range(12)), budget_tokens=1_500)
    sent = script.requests[-1]
    assert len(done.all_messages()) == len(steps) * 2
    assert len(sent) < len(steps) * 2 - 1
    calls = [part.tool_call_id for message in sent for part in message.parts if isinstance(part, ToolCallPart)]
    assert calls
    assert calls == [part.tool_call_id for part in results(sent)]


def test_an_old_long_result_becomes_a_handle(talk: Callable[..., Any]) -> None:
    """After ten messages a long result is a head and a handle, with the same id."""
    script = Script([("desk__report", {})], *["said"] * 7)
    done = talk(script, *(f"message {number}" for number in range(7)))
    (whole,), (old,) = results(done.all_messages()), results(script.requests[-1])
    assert "read_result" in old.content
    assert (old.tool_call_id, len(old.content) <= len(whole.content)) == (whole.tool_call_id, True)


def _shorten(adapter_fleet: AdapterFleet, messages: list[ModelMessage], **options: Any) -> list[ModelMessage]:
    async def scenario() -> list[ModelMessage]:
        async with adapter_fleet.open() as runtime:
            return await shortened(Conversation(adapter_fleet.session(runtime), **options), messages)

    return asyncio.run(scenario())


def test_a_damaged_history_is_repaired(adapter_fleet: AdapterFleet) -> None:
    """A call without a result gets one, a result without a call goes, and sound messages are the same objects."""
    first = ModelRequest(parts=[SystemPromptPart("Be kind."), UserPromptPart("hi")])
    messages: list[ModelMessage] = [
        first,
        ModelResponse(parts=[TextPart("I look."), ToolCallPart("desk__report", {}, "lost")]),
        ModelRequest(parts=[ToolReturnPart("desk__whoami", "x", "orphan")]),
        ModelRequest(parts=[UserPromptPart("and?")]),
    ]
    sent = _shorten(adapter_fleet, messages)
    assert sent[0] is first
    assert sent[1] is messages[1]
    (made,) = results(sent)
    assert (made.tool_call_id, made.tool_name, made.outcome) == ("lost", "desk__report", "interrupted")
    assert sent[-1] is messages[-1]


def test_a_sound_history_stays_as_it_is(adapter_fleet: AdapterFleet) -> None:
    """Messages that need no change are passed on as the same objects."""
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(["look", BinaryContent(b"x", media_type="image/png")])]),
        ModelResponse(parts=[ToolCallPart("desk__whoami", "{}", "1")]),
        ModelRequest(parts=[ToolReturnPart("desk__whoami", {"who": "me"}, "1")]),
        ModelResponse(parts=[TextPart("you")]),
        ModelRequest(parts=[UserPromptPart("thanks")]),
    ]
    assert [id(one) for one in _shorten(adapter_fleet, messages)] == [id(one) for one in messages]


def test_system_prompts_outlive_pruning(adapter_fleet: AdapterFleet) -> None:
    """A system prompt in the oldest message stays when the message goes."""
    system = SystemPromptPart("Be kind.")
    messages: list[ModelMessage] = [ModelRequest(parts=[system, UserPromptPart("word " * 500)])]
    for number in range(20):
        messages += [ModelResponse(parts=[TextPart("yes " * 50)]), ModelRequest(parts=[UserPromptPart(f"m{number}")])]
    sent = _shorten(adapter_fleet, messages, budget_tokens=1_000)
    assert len(sent) < len(messages)
    assert sent[0].parts[0] is system


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[OpenAIChatModel, list[Any]]]:
    """A model of OpenAI's API on the loopback, and the bodies of the requests to it."""
    bodies: list[Any] = []
    message = {"role": "assistant", "content": "done"}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    answer = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class's name
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
    yield OpenAIChatModel("m", provider=provider), bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_bill_is_what_the_build_said(adapter_fleet: AdapterFleet, wire: tuple[OpenAIChatModel, list[Any]]) -> None:
    """The first request's tools cost what `octoc build` said, and for each tool the wrapper of an empty one."""
    model, bodies = wire
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    empty = Tool.from_schema(lambda: "", "t", "", schema)
    empty.strict = False

    async def scenario() -> None:
        await Agent(model, tools=[empty]).run("hello")
        async with adapter_fleet.open() as runtime:
            conversation = Conversation(adapter_fleet.session(runtime))
            await Agent(model, capabilities=[Octoc(conversation)]).run("hello")

    asyncio.run(scenario())
    (lone,), tools = bodies[0]["tools"], bodies[1]["tools"]
    wrapper = _characters(lone) - _characters({"name": "t", "description": "", "input_schema": schema})
    assert len(tools) == adapter_fleet.direct_tools
    # For OpenAI the library gives `arguments` of `call_mcp_tool` the properties that an object may leave out.
    rewritten = len(',"properties":{}')
    assert sum(map(_characters, tools)) == adapter_fleet.direct_tokens + wrapper * len(tools) + rewritten


def _characters(tool: Any) -> int:
    return len(json.dumps(tool, separators=(",", ":"), ensure_ascii=False))


def test_the_pages_agent_answers(
    adapter_fleet: AdapterFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The complete agent of the page, of at most 40 lines, routes, calls and answers."""
    says = iter([AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, ""])
    monkeypatch.setattr("builtins.input", lambda _: next(says))
    runtime = adapter_fleet.open()
    monkeypatch.setattr(Runtime, "open", lambda _: runtime)
    script = Script([("sky__forecast", {"city": "Oslo"})], "It gets cold.", "Two are unpaid.")
    asyncio.run(page_examples(PAGE)["main"](script.model))
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith("activated")] == [
        "It gets cold.",
        "Two are unpaid.",
    ]
    assert "activated ('invoices',), evicted ('weather',)" in out


def test_one_agent_serves_many_conversations(adapter_fleet: AdapterFleet) -> None:
    """With the capability of a run, each user has tools and a caller of their own."""
    script = Script(*([("desk__whoami", {})], "done") * 2)

    async def scenario() -> list[str]:
        async with adapter_fleet.open() as runtime:
            agent = Agent(script.model)
            said = []
            for user in ("u1", "u2"):
                history: list[ModelMessage] = []
                conversation = Conversation(runtime.session(AdapterFleet.AGENT, user=user))
                await page_examples(PAGE)["answer"](agent, conversation, "who am I?", history)
                said += [part.content for part in results(history)]
            return said

    assert asyncio.run(scenario()) == ["None/u1", "None/u2"]


def test_a_model_explains_a_failure(adapter_fleet: AdapterFleet, caplog: pytest.LogCaptureFixture) -> None:
    """The page's function asks a model of pydantic-ai; when the model fails, the failure keeps its own text."""
    (code,) = re.findall(r"\| pydantic-ai \| `(.*)` \|", (DOCS / "explain.md").read_text(encoding="utf-8"))
    script = Script("The archive opens at nine.")
    defined: dict[str, Any] = {"model": script.model, "Agent": Agent}
    exec(f"async def ask(instructions, report):\n    {code}", defined)  # noqa: S102  # the project's own page
    explainer = ModelExplainer(defined["ask"])
    assert adapter_fleet.failed_call(explainer) == "[Tool error] The archive opens at nine."
    assert (script.infos[0].instructions or "").startswith("A tool call of an AI agent failed.")
    (report,) = script.requests[0][0].parts
    assert json.loads(str(report.content))["message"] == "the archive is closed"
    assert "the archive is closed" in adapter_fleet.failed_call(explainer)
    assert "was not explained: " in caplog.text
