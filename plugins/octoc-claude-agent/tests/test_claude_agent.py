"""The real Agent SDK and its program `claude`, with a stand-in for the model, and octoc's tools and routing."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="Claude's Agent SDK has environments of its own: run `make adapters`")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SdkMcpTool,
    SystemMessage,
    UserMessage,
    create_sdk_mcp_server,
)

from octoc.adapters import Conversation
from octoc.runtime import Runtime
from octoc.testing import AdapterFleet
from octoc_claude_agent import ClaudeAgent
from octoc_explain import ModelExplainer

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "claude-agent.md").read_text(encoding="utf-8")
PREFIX = "mcp__octoc__"


@pytest.fixture
def options(api: Any, tmp_path: Path) -> ClaudeAgentOptions:
    """Options by which `claude` asks the stand-in, with a home of its own and no tools beside octoc's."""
    env = {
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "none",
        "HOME": str(tmp_path),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return ClaudeAgentOptions(env=env, cwd=tmp_path, tools=[], setting_sources=[], model="claude-sonnet-4-5")


@pytest.fixture
def talk(adapter_fleet: AdapterFleet, options: ClaudeAgentOptions) -> Callable[..., list[Any]]:
    """A function that sends messages of one user to an agent, and returns the messages that it answers with."""

    def talked(*texts: str, **more: Any) -> list[Any]:
        async def scenario() -> list[Any]:
            seen: list[Any] = []
            async with adapter_fleet.open() as runtime:
                conversation = Conversation(adapter_fleet.session(runtime), **more)
                agent = ClaudeAgent(conversation, read_only=["desk__meet"])
                async with ClaudeSDKClient(agent.options(options)) as client:
                    for text in texts:
                        await agent.query(client, text)
                        seen += [message async for message in client.receive_response()]
            return seen

        return asyncio.run(scenario())

    return talked


def text_of(result: Any) -> str:
    """Return the text of a result in a request, without Claude Code's own reminders."""
    content = result["content"]
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    return text.partition("\n\n<system-reminder>")[0]


def test_search_and_a_call_of_what_was_found(api: Any, talk: Callable[..., list[Any]]) -> None:
    """The model searches for a tool that it was not shown, and calls it by octoc's own tool."""
    api.play(
        [("find_tools", {"query": "log what a crane did"})],
        [("call_mcp_tool", {"tool_name": "archive__log_crane", "arguments": {}})],
        "done",
    )
    last = talk("hello")[-1]
    assert isinstance(last, ResultMessage)
    assert (last.result, last.is_error) == ("done", False)
    found, called = api.results(2)
    assert "archive__log_crane" in text_of(found)
    assert text_of(called) == "logged"


def test_a_message_activates_and_the_next_one_evicts(api: Any, talk: Callable[..., list[Any]]) -> None:
    """The tools of a capability are there in the first request of its message, and leave for those of another one."""
    turns: list[Any] = []
    api.play("cold", [("sky__forecast", {"city": "Oslo"})], "two")
    seen = talk(AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, on_turn=turns.append)
    assert [(turn.activated, turn.evicted) for turn in turns] == [(("weather",), ()), (("invoices",), ("weather",))]
    assert "sky__forecast" in api.names(0)
    assert "ledger__list_invoices" in api.names(1)
    offered = [message.data["tools"] for message in seen if isinstance(message, SystemMessage)]
    assert [f"{PREFIX}sky__forecast" in tools for tools in offered] == [True, False]
    # For the prompt cache, Claude Code leaves the evicted tool in its requests, and refuses calls of it.
    (refused,) = api.results(2)
    assert "No such tool available" in text_of(refused)


def test_tools_are_listed_until_claude_code_knows_them(adapter_fleet: AdapterFleet) -> None:
    """A message waits until Claude Code is connected, and has it list again what it missed."""
    done: list[Any] = []
    conversation: Any = None

    class SlowClient:
        """Connects late, and has missed the first change."""

        states: Any = iter(["pending", "connected", "connected", "connected", "connected"])

        async def get_mcp_status(self) -> Any:
            known = conversation.tools() if done.count(True) == 2 else ()
            tools = [{"name": tool.name} for tool in known]
            return {"mcpServers": [{"name": "octoc", "status": next(self.states), "tools": tools}]}

        async def toggle_mcp_server(self, _: str, *, enabled: bool) -> None:
            done.append(enabled)

        async def query(self, text: str) -> None:
            done.append(text)

    async def scenario() -> None:
        nonlocal conversation
        async with adapter_fleet.open() as runtime:
            conversation = Conversation(adapter_fleet.session(runtime))
            agent = ClaudeAgent(conversation)
            agent._note_listed(conversation.tools())
            client: Any = SlowClient()
            await agent.query(client, AdapterFleet.WEATHER_MESSAGE)
            assert next(client.states, None) is None

    asyncio.run(scenario())
    assert done == [False, True, False, True, AdapterFleet.WEATHER_MESSAGE]


def test_a_capability_that_the_model_enables_is_there_with_the_next_message(
    api: Any, talk: Callable[..., list[Any]]
) -> None:
    """Until then, its tools are called by octoc's own tool."""
    call = {"tool_name": "sky__forecast", "arguments": {"city": "Oslo"}}
    api.play([("capability", {"action": "enable", "name": "weather"})], [("call_mcp_tool", call)], "cold", "bye")
    talk("hello", "thanks")
    assert "Oslo" in text_of(api.results(2)[1])
    assert "sky__forecast" not in api.names(2)
    assert "sky__forecast" in api.names(3)


def test_structured_content_is_kept(api: Any, talk: Callable[..., list[Any]]) -> None:
    """The host finds it in the message with the result."""
    api.play([("sky__forecast", {"city": "Oslo"})], "cold")
    (result,) = [one for one in talk(AdapterFleet.WEATHER_MESSAGE) if isinstance(one, UserMessage)]
    assert isinstance(result.tool_use_result, dict)
    assert result.tool_use_result["structuredContent"] == AdapterFleet.FORECAST


def test_a_cut_result_is_read_on(api: Any, talk: Callable[..., list[Any]]) -> None:
    """A long result names its handle, with which the model reads its end."""

    def read_on(body: Any) -> Any:
        (cut,) = api.results(-1)
        assert "line 1999 of" not in text_of(cut)
        handle = text_of(cut).partition('handle="')[2].partition('"')[0]
        return [("read_result", {"handle": handle, "offset": 45_000})]

    api.play([("desk__report", {})], read_on, "done")
    talk("hello")
    assert "line 1999 of the report" in text_of(api.results(2)[1])


def test_a_failure_is_a_value(api: Any, talk: Callable[..., list[Any]]) -> None:
    """A tool's error, arguments that do not fit and a name that octoc does not know are results; the run goes on."""
    unknown = {"tool_name": "no__such", "arguments": {}}
    api.play([("desk__refuse", {}), ("desk__read_note", {}), ("call_mcp_tool", unknown)], "done")
    assert talk("hello")[-1].result == "done"
    refused, unfit, missing = api.results(1)
    assert all(result["is_error"] for result in (refused, unfit, missing))
    assert "the archive is closed" in text_of(refused)
    assert "name" in text_of(unfit)
    assert "no__such" in text_of(missing)


def test_calls_of_one_turn_run_at_the_same_time(api: Any, talk: Callable[..., list[Any]]) -> None:
    """Two calls of a tool that only reads, which wait for each other, both end, and each result belongs to its call."""
    api.play([("desk__meet", {"name": "a"}), ("desk__meet", {"name": "b"})], "done")
    talk("hello")
    assert [text_of(result) for result in api.results(1)] == ["a met 2", "b met 2"]


def test_annotations_arrive(adapter_fleet: AdapterFleet, api: Any, options: ClaudeAgentOptions) -> None:
    """Claude Code knows which tools only read: by their servers' annotations, and by the names that the host gives."""
    api.play("done")

    async def scenario() -> Any:
        async with adapter_fleet.open() as runtime:
            agent = ClaudeAgent(Conversation(adapter_fleet.session(runtime)), read_only=["desk__m*"])
            async with ClaudeSDKClient(agent.options(options)) as client:
                await agent.query(client, "hello")
                assert [message async for message in client.receive_response()]
                return await client.get_mcp_status()

    (server,) = asyncio.run(scenario())["mcpServers"]
    reading = [tool["name"] for tool in server["tools"] if tool["annotations"].get("readOnly")]
    assert reading == ["find_tools", "read_result", "desk__whoami", "desk__meet"]


def test_tenant_and_user_arrive(api: Any, talk: Callable[..., list[Any]]) -> None:
    """A tool knows the tenant and the user of its call."""
    api.play([("desk__whoami", {})], "done")
    talk("hello")
    assert text_of(api.results(1)[0]) == f"{AdapterFleet.TENANT}/{AdapterFleet.USER}"


def test_an_image_is_an_image(api: Any, talk: Callable[..., list[Any]]) -> None:
    """An image of a result is one for the model."""
    api.play([("desk__picture", {})], "done")
    talk("hello")
    image, *_ = api.results(1)[0]["content"]
    assert (image["type"], image["source"]["media_type"]) == ("image", "image/png")


def test_the_agents_own_prompt_is_the_system_prompt(api: Any, talk: Callable[..., list[Any]]) -> None:
    """The model gets the agent's prompt and the section on its servers."""
    api.play("done")
    talk("hello")
    assert any(block["text"].startswith("You are the clerk.") for block in api.requests[0]["system"])


def test_the_bill_is_what_the_build_said(
    adapter_fleet: AdapterFleet, api: Any, options: ClaudeAgentOptions, talk: Callable[..., list[Any]]
) -> None:
    """The first request's tools cost what `octoc build` said, and for each tool the wrapper of an empty one."""
    api.play("done", "done")
    talk("hello")

    async def nothing(_: Any) -> dict[str, Any]:
        return {}

    empty = SdkMcpTool("t", "", {"type": "object", "properties": {}}, nothing)

    async def alone() -> None:
        server = create_sdk_mcp_server("octoc", tools=[empty])
        env = {**options.env, "ENABLE_TOOL_SEARCH": "false"}
        lone = ClaudeAgentOptions(
            env=env, cwd=options.cwd, tools=[], setting_sources=[], model=options.model, mcp_servers={"octoc": server}
        )
        async with ClaudeSDKClient(lone) as client:
            await client.query("hello")
            assert [message async for message in client.receive_response()]

    asyncio.run(alone())
    (first,) = api.tools(api.requests[1])
    schema = {"type": "object", "properties": {}}
    wrapper = _characters(first) - _characters({"name": "t", "description": "", "input_schema": schema})
    tools = api.tools(api.requests[0])
    assert len(tools) == adapter_fleet.direct_tools
    assert sum(map(_characters, tools)) == adapter_fleet.direct_tokens + wrapper * len(tools)


def _characters(shown: Any) -> int:
    return len(json.dumps(shown, separators=(",", ":"), ensure_ascii=False))


def test_the_pages_agent_answers(
    adapter_fleet: AdapterFleet,
    api: Any,
    options: ClaudeAgentOptions,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The complete agent of the page, of at most 40 lines, routes, calls and answers."""
    code = re.findall(r"```python.*?\n(.*?)```", PAGE, re.DOTALL)[0]
    assert code.count("\n") <= 40
    names: dict[str, Any] = {"__name__": "page"}
    exec(code, names)  # noqa: S102  # the project's own page
    says = iter([AdapterFleet.WEATHER_MESSAGE, AdapterFleet.INVOICES_MESSAGE, ""])
    runtime = adapter_fleet.open()
    monkeypatch.setattr("builtins.input", lambda _: next(says))
    monkeypatch.setattr(Runtime, "open", lambda _: runtime)
    monkeypatch.setitem(names, "ClaudeAgentOptions", lambda **given: ClaudeAgentOptions(**(vars(options) | given)))
    api.play([("sky__forecast", {"city": "Oslo"})], "It gets cold.", "Two are unpaid.")
    asyncio.run(names["main"]())
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith("activated")] == [
        "It gets cold.",
        "Two are unpaid.",
    ]
    assert "activated ('invoices',), evicted ('weather',)" in out


def test_a_model_explains_a_failure(
    adapter_fleet: AdapterFleet, api: Any, options: ClaudeAgentOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's function asks `claude`, and its answer is what the agent reads of the failure."""
    for name, value in options.env.items():
        monkeypatch.setenv(name, value)
    api.other = lambda _: "The archive opens at nine."
    page = (DOCS / "explain.md").read_text(encoding="utf-8")
    (code,) = (code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "claude_agent_sdk" in code)
    defined: dict[str, Any] = {}
    exec(code, defined)  # noqa: S102  # the project's own page
    explainer = ModelExplainer(defined["ask"], seconds=60)
    assert adapter_fleet.failed_call(explainer) == "[Tool error] The archive opens at nine."


def test_servers_in_a_file_are_refused(adapter_fleet: AdapterFleet) -> None:
    """Octoc's server cannot join a file of servers, and the error says so."""

    async def scenario() -> None:
        async with adapter_fleet.open() as runtime:
            agent = ClaudeAgent(Conversation(adapter_fleet.session(runtime)))
            with pytest.raises(ValueError, match="must be a dict"):
                agent.options(ClaudeAgentOptions(mcp_servers="servers.json"))

    asyncio.run(scenario())
