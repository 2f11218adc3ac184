"""The official SDK's client at work, in both eras, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import ElicitResult

ERAS = ("handshake", "modern")
TRANSPORTS = ("stdio", "http")
OWN = ["find_tools", "call_mcp_tool", "capability", "read_result"]
Run = Callable[..., None]
everywhere = pytest.mark.parametrize("transport", TRANSPORTS)
both_eras = pytest.mark.parametrize("era", ERAS)


def text_of(result: Any) -> str:
    """Return the text parts of a result."""
    return "\n".join(part.text for part in result.content if part.type == "text")


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; a test that waits without effect fails by its own assert."""
    for _ in range(1200):
        if holds():
            return
        await asyncio.sleep(0.05)


@everywhere
@both_eras
def test_list_search_activate_call_and_page(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], transport: str, era: str
) -> None:
    """A client searches with the user's words, hears that tools joined, calls one, and pages through a long result."""
    gateway = serve() if transport == "http" else None

    async def scenario() -> None:
        async with connect(era, gateway) as heard, contextlib.AsyncExitStack() as stack:
            client = heard.client
            assert client.protocol_version.startswith("2026" if era == "modern" else "2025")
            assert "Available servers:" in client.instructions
            assert client.server_capabilities.tools.list_changed
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == OWN
            assert "message" in listed[0].input_schema["properties"]
            if era == "modern":
                await stack.enter_async_context(client.listen(tools_list_changed=True))
            else:
                await asyncio.sleep(0.3)  # over HTTP the stream of news is opened beside the first request
            asked = {"query": "clock zones", "message": "what time is it in Tokyo?"}
            found = await client.call_tool("find_tools", asked)
            assert re.search(r"\[octoc\] activat(ed|ing): `time`", text_of(found))
            await until(lambda: "notifications/tools/list_changed" in heard.news)
            assert "notifications/tools/list_changed" in heard.news
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[:4] == OWN
            (clock,) = [name for name in names if name.endswith("get_current_time")]
            now = await client.call_tool(clock, {"timezone": "Asia/Tokyo"})
            assert not now.is_error
            assert json.loads(text_of(now))["timezone"] == "Asia/Tokyo"
            words = " ".join(f"w{number}" for number in range(2000))
            long = await client.call_tool("call_mcp_tool", {"tool_name": "plain__echo", "arguments": {"text": words}})
            assert not long.is_error
            assert "w1999" not in text_of(long)
            page = await client.call_tool(
                "read_result", {"handle": long.meta["octoc/handle"], "offset": len(words) - 500}
            )
            assert "w1999" in text_of(page)
            await client.call_tool("capability", {"action": "disable", "name": "time"})
            assert [tool.name for tool in (await client.list_tools()).tools] == OWN
            refused = await client.call_tool(clock, {"timezone": "UTC"})
            assert refused.is_error or "Tokyo" not in text_of(refused)

    run(scenario)


@everywhere
@both_eras
def test_a_server_that_changes_its_tools_changes_the_list(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], transport: str, era: str
) -> None:
    """After a server reports changed tools, the client gets a notification, and lists the remaining ones."""
    gateway = serve() if transport == "http" else None

    async def scenario() -> None:
        async with connect(era, gateway) as heard, contextlib.AsyncExitStack() as stack:
            client = heard.client
            await client.call_tool("capability", {"action": "enable", "name": "gossip"})
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"gossip__echo", "gossip__fault"} <= names
            if era == "modern":
                await stack.enter_async_context(client.listen(tools_list_changed=True))
            heard.news.clear()
            assert text_of(await client.call_tool("gossip__fault", {})) == "changed"
            await until(lambda: "notifications/tools/list_changed" in heard.news)
            assert "notifications/tools/list_changed" in heard.news
            left = {tool.name for tool in (await client.list_tools()).tools}
            assert names - left == {"gossip__fault"}

    run(scenario)


@both_eras
def test_what_is_out_of_scope_has_no_name(run: Run, connect: Callable[..., Any], era: str) -> None:
    """An agent of two tools lists these alone, and everything else is refused as unknown, by whatever way."""

    async def scenario() -> None:
        async with connect(era, None, "--agent", "clerk") as heard:
            names = [tool.name for tool in (await heard.client.list_tools()).tools]
            assert names == ["plain__echo", "plain__pid"]
            assert json.loads(text_of(await heard.client.call_tool("plain__echo", {"a": 1}))) == {"a": 1}
            for name in ("plain__fault", "plain/fault", "steps__echo", "find_tools", "call_mcp_tool"):
                arguments = {"tool_name": "plain__fault", "query": "fault"} if name in OWN else {}
                refused = await heard.client.call_tool(name, arguments)
                assert refused.is_error, name
                assert refused.meta["octoc/kind"] == "not_found"

    run(scenario)


@everywhere
@both_eras
def test_progress_and_cancellation_pass_through(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], transport: str, era: str
) -> None:
    """Each step of a backend reaches the client in order; a call that is given up is cancelled at the backend."""
    gateway = serve() if transport == "http" else None

    async def scenario() -> None:
        async with connect(era, gateway) as heard:
            steps: list[tuple[float, float | None]] = []

            async def hear(done: float, total: float | None, _: str | None) -> None:
                steps.append((done, total))

            wanted = {"tool_name": "steps__fault", "arguments": {}}
            result = await heard.client.call_tool("call_mcp_tool", wanted, progress_callback=hear)
            assert text_of(result) == "done"
            assert steps == [(1, 3), (2, 3), (3, 3)]
            slow = {"tool_name": "slow__fault", "arguments": {}}
            given_up = asyncio.create_task(heard.client.call_tool("call_mcp_tool", slow))
            await asyncio.sleep(1.0)
            given_up.cancel()
            await asyncio.wait((given_up,))
            counts: list[str] = []
            for _ in range(600):
                counts.append(text_of(await heard.client.call_tool("call_mcp_tool", {"tool_name": "slow__cancels"})))
                if counts[-1] == "1":
                    break
                await asyncio.sleep(0.1)
            assert counts[-1] == "1"

    run(scenario)


@everywhere
@both_eras
def test_a_backend_asks_the_client_that_called(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str, era: str
) -> None:
    """What a backend asks during a call is answered by that call's client, in the one request or between two."""
    gateway = shared() if transport == "http" else None

    async def elicit(_: Any, params: Any) -> ElicitResult:
        assert params.message == "Server `asking` asks: Which one?"
        return ElicitResult(action="accept", content={"name": "octo"})

    async def scenario() -> None:
        async with connect(era, gateway, elicitation_callback=elicit) as heard:
            answer = await heard.client.call_tool("call_mcp_tool", {"tool_name": "asking__fault"})
            assert json.loads(text_of(answer))["result"]["content"] == {"name": "octo"}

    run(scenario)


@everywhere
@both_eras
def test_a_question_that_no_client_can_answer_is_declined(
    run: Run, shared: Callable[..., Any], connect: Callable[..., Any], transport: str, era: str
) -> None:
    """Without an answering client a question is declined at once, and the result says so to the model."""
    gateway = shared() if transport == "http" else None

    async def scenario() -> None:
        async with connect(era, gateway) as heard:
            answer = await heard.client.call_tool("call_mcp_tool", {"tool_name": "asking__fault"})
            assert "asked for an answer of the user (elicitation)" in text_of(answer)

    run(scenario)


@both_eras
def test_stateless_serves_what_needs_no_state(run: Run, connect: Callable[..., Any], era: str) -> None:
    """Without state there are search, proxy and direct tools; a search activates nothing, and no handle is offered."""

    async def scenario() -> None:
        async with connect(era, None, "--stateless") as heard:
            tools = (await heard.client.list_tools()).tools
            assert [tool.name for tool in tools] == ["find_tools", "call_mcp_tool"]
            assert "message" not in tools[0].input_schema["properties"]
            found = await heard.client.call_tool("find_tools", {"query": "what time is it in Tokyo?"})
            assert "activated" not in text_of(found)
            for name in ("capability", "read_result"):
                refused = await heard.client.call_tool(name, {"action": "list", "handle": "x"})
                assert refused.meta["octoc/kind"] == "not_found"
            long = {"tool_name": "plain__echo", "arguments": {"text": "x" * 9000}}
            cut = await heard.client.call_tool("call_mcp_tool", long)
            assert "octoc/handle" not in (cut.meta or {})
            assert "read_result" not in text_of(cut)

    run(scenario)
