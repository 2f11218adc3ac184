"""The runtime with a real server over stdio: the official time server, through the transport plugin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.model import Grant
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime

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
            assert runtime.pool.servers == ()

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
            found = json.loads((await session.call("find_tools", {"query": "convert"})).text)
            assert [tool["name"] for tool in found] == ["time__convert_time"]
            assert "source_timezone" in found[0]["parameters"]["properties"]
            failed = await session.call("call_mcp_tool", {"tool_name": "gone/x"})
            assert isinstance(failed, ToolFailure)
            assert failed.kind == "connect_failed"

    asyncio.run(run())
