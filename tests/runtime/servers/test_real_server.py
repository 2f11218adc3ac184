"""The runtime with a real server over stdio: the official time server, through the transport plugin."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from octoc.bundle.model import Grant
from octoc.plugin import AuditLog
from octoc.plugin.manager import load_plugins
from octoc.results import Caller, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.testing import FAULTY_STDIO

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet


def test_a_message_brings_a_tool_and_the_tool_answers(fleet: Fleet, python_server: Callable[[str], Path]) -> None:
    """From message to answer: route, activate, show the tool, call it, close the server."""
    time = str(python_server("mcp-server-time"))
    fleet.server("time", listed=False, command=time, args=("--local-timezone=${ZONE}",))
    fleet.capability("time", Grant(server="time", globs=("get_*",)), triggers=["what time is it"])
    fleet.agent(capabilities=("time",))

    async def run() -> None:
        plugins = load_plugins(["transport-mcp"], {"ZONE": "Europe/Vienna"})
        async with Runtime.open(fleet.write(), plugins=plugins, embedder=fleet.embedder) as runtime:
            session = runtime.session()
            assert (await session.on_user_message("so what time is it now")).capability == "time"
            assert [tool["name"] for tool in session.tools()] == ["capability", "time__get_current_time"]
            answer = await session.call("time__get_current_time", {"timezone": "Europe/Vienna"})
            assert isinstance(answer, ToolResult)
            assert json.loads(answer.text)["timezone"] == "Europe/Vienna"
            wrong = await session.call("get_current_time", {"timezone": "Nowhere"})
            assert isinstance(wrong, ToolResult)
            assert wrong.is_error
            assert await session.deactivate("time") == ("Capability 'time' disabled. Fully shut down 1 server(s): time")
            assert runtime.state.current.pool.servers == ()

    asyncio.run(run())


def test_one_server_that_cannot_start_leaves_the_others(fleet: Fleet, python_server: Callable[[str], Path]) -> None:
    """A program that is not there is a failure for who calls it, and the other server answers."""
    fleet.server("time", listed=False, command=str(python_server("mcp-server-time")))
    fleet.server("gone", listed=False, command="/does/not/exist")
    fleet.agent(proxy=True, unlisted=tuple(Grant(server=name, globs=("*",)) for name in ("time", "gone")))

    async def run() -> None:
        async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"])) as runtime:
            session = runtime.session()
            problems = await session.connect_unlisted()
            assert list(problems) == ["gone"]
            found = await session.call("find_tools", {"query": "convert"})
            assert found.text.startswith("- time__convert_time(source_timezone: string, ")
            failed = await session.call("call_mcp_tool", {"tool_name": "gone/x"})
            assert isinstance(failed, ToolFailure)
            assert failed.kind == "connect_failed"

    asyncio.run(run())


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_server_gets_the_caller_of_a_call(fleet: Fleet, era: str) -> None:
    """A call's own tenant, user and correlation id, or the session's, reach a real process and the audit log."""
    log = io.StringIO()
    program = (FAULTY_STDIO, "meta", "--era", era)
    fleet.server("s", listed=False, command=sys.executable, args=program)
    fleet.agent(proxy=True, unlisted=(Grant(server="s", globs=("*",)),))

    async def run() -> list[dict[str, str]]:
        plugins = load_plugins(["transport-mcp"])
        async with Runtime.open(fleet.write(), plugins=plugins, observers=[AuditLog(log)]) as runtime:
            session = runtime.session(tenant="acme", user="u7", correlation_id="e-1")
            await session.connect_unlisted()
            answers = [
                await session.call("s/fault", {}),
                await session.call("s/fault", {}, caller=Caller(user="u8", correlation_id="e-2")),
                await runtime.session().call("s/fault", {}),
            ]
            return [json.loads(answer.text) or {} for answer in answers]

    told = asyncio.run(run())
    own = [{key: value for key, value in meta.items() if key.startswith("octoc/")} for meta in told]
    assert own == [
        {"octoc/tenant": "acme", "octoc/user": "u7", "octoc/correlationId": "e-1"},
        {"octoc/tenant": "acme", "octoc/user": "u8", "octoc/correlationId": "e-2"},
        {},
    ]
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    who = [(line.get("tenant"), line.get("user"), line.get("correlation_id")) for line in lines]
    assert who == [("acme", "u7", "e-1"), ("acme", "u8", "e-2"), (None, None, None)]
