"""A session that waits for no server: a real server that starts slowly holds up neither searches nor messages."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from octoc.runtime import Runtime, Session
from octoc.testing import WorkspaceBuilder, stdio_script

SLOW = stdio_script("""
while not Path(sys.argv[1]).exists():
    time.sleep(0.01)


def tools():
    return [{"name": "brew", "description": "Brew a pot of tea", "inputSchema": {"type": "object"}}]


def call(name, arguments):
    return "a pot of tea"
""")
TRIGGERS = ("brew a pot of tea", "make some tea for us", "put the kettle on", "a cup of tea please")
LIMIT_S = 20.0
"""Far more than an answer takes, and less than the 30 s after which the server counts as failed."""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The file without which the slow server does not start."""
    return tmp_path / "gate"


@pytest.fixture
def builder(tmp_path: Path, gate: Path) -> WorkspaceBuilder:
    """A workspace with a slow server, `kettle`, and a recorded one."""
    builder = WorkspaceBuilder(tmp_path / "ws", plugins={"use": ["transport-mcp"]}, search={"bind": "never"})
    builder.file("slow.py", SLOW).server("docs", "docs-mcp").snapshot("docs", ["read_page"])
    return builder.server("kettle", sys.executable, "${workspaceFolder}/slow.py", str(gate))


def play(builder: WorkspaceBuilder, scenario: Callable[[Runtime], Awaitable[None]]) -> None:
    """Build the workspace, and run a scenario in it."""
    bundle = builder.build().bundle
    assert bundle is not None

    async def run() -> None:
        async with Runtime.open(bundle) as runtime:
            await scenario(runtime)

    asyncio.run(run())


def start(gate: Path) -> None:
    """Let the slow server start."""
    gate.touch()


async def found(session: Session) -> str:
    """The answer of `find_tools` to a query for the slow server's tool, which must not wait for the server."""
    async with asyncio.timeout(LIMIT_S):
        return (await session.call("find_tools", {"query": "brew a pot of tea"})).text


def test_an_unlisted_server_is_listed_in_the_background(builder: WorkspaceBuilder, gate: Path) -> None:
    """A search answers while the server starts, and finds its tools afterwards."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session(waits=False)
        assert "kettle__brew" not in await found(session)
        assert runtime.unlisted_servers(["supervisor"]) == ("kettle",)
        start(gate)
        await session.settled()
        assert "kettle__brew" in await found(session)
        assert runtime.unlisted_servers(["supervisor"]) == ()
        called = await session.call("call_mcp_tool", {"tool_name": "kettle__brew"})
        assert called.text == "a pot of tea"
        await session.close()

    play(builder, scenario)


def test_a_session_that_waits_lists_nothing_by_itself(builder: WorkspaceBuilder, gate: Path) -> None:
    """Without `waits=False` only an activation, a call or the host starts a server."""
    gate.touch()

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        await session.settled()
        assert "kettle__brew" not in await found(session)
        assert await runtime.list_servers(["supervisor"]) == {}
        assert "kettle__brew" in await found(session)

    play(builder, scenario)


def test_a_message_does_not_wait_for_the_servers_of_its_capability(builder: WorkspaceBuilder, gate: Path) -> None:
    """A message's capability becomes active when its server has started; searches and calls go on meanwhile."""
    builder.snapshot("kettle", ["brew"]).capability("tea", TRIGGERS, server="kettle", allowed_tools=["kettle:*"])

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session(waits=False)
        async with asyncio.timeout(LIMIT_S):
            routing = await session.on_user_message("brew a pot of tea")
        assert (routing.capability, routing.pending, session.capabilities) == ("tea", ("tea",), ())
        assert "kettle__brew" in await found(session)
        start(gate)
        await session.settled()
        assert session.capabilities == ("tea",)
        await session.deactivate("tea")
        async with runtime.state.current.pool.use("kettle"):  # a server that runs already
            routing = await session.on_user_message("brew a pot of tea")
        assert (routing.pending, session.capabilities) == ((), ("tea",))
        await session.close()

    play(builder, scenario)


def test_a_reload_does_not_wait_either(builder: WorkspaceBuilder, gate: Path, tmp_path: Path) -> None:
    """The first message after a reload does not wait for an unlisted server of the new bundle."""
    new = builder.build().bundle
    assert new is not None
    old = WorkspaceBuilder(tmp_path / "old", plugins={"use": ["transport-mcp"]}, search={"bind": "never"})
    old.server("docs", "docs-mcp").snapshot("docs", ["read_page"])

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session(waits=False)
        await runtime.reload(new)
        async with asyncio.timeout(LIMIT_S):
            await session.renew()
        assert "kettle__brew" not in await found(session)
        start(gate)
        await session.settled()
        assert "kettle__brew" in await found(session)
        await session.close()

    play(old, scenario)
