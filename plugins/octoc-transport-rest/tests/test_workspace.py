"""From a REST host to an agent's call: pinned, built and called as a user does it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from octoc.cli import root as cli
from octoc.plugin import Caller, PythonTool, ToolFailure, ToolResult, current_caller, load_plugins
from octoc.runtime import Runtime, Session
from octoc.testing import WorkspaceBuilder
from octoc_transport_rest.host import serve

TOKEN = "let-me-in-please"
ORDER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def _orders(seen: list[Caller]) -> PythonTool:
    def find(arguments: Mapping[str, Any]) -> dict[str, Any]:
        seen.append(current_caller())
        return {"id": arguments["id"], "state": "paid"}

    return PythonTool(name="find_order", description="Finds an order by its number", input_schema=ORDER, handler=find)


def _workspace(root: Path, url: str, **settings: Any) -> Path:
    builder = WorkspaceBuilder(root, plugins={"use": ["transport-rest"]}, mcp={"files": [".mcp.json"]}, **settings)
    auth = {"type": "bearer", "token": "${ORDERS_TOKEN}"}
    entry = {"type": "rest", "url": url, "auth": auth}
    return builder.file(".mcp.json", json.dumps({"mcpServers": {"orders": entry}})).write()


def _run(root: Path, *arguments: str) -> Result:
    done = CliRunner().invoke(
        cli, [arguments[0], "--workspace", str(root), *arguments[1:]], env={"ORDERS_TOKEN": TOKEN}
    )
    assert done.exit_code == 0, done.output
    return done


def test_a_host_is_pinned_built_and_called(tmp_path: Path) -> None:
    """The host's tool is recorded and compiled, and an agent's call brings the session's caller to it."""
    seen: list[Caller] = []

    async def scenario() -> ToolResult | ToolFailure:
        host = await serve([_orders(seen)], token=TOKEN)
        try:
            root = _workspace(tmp_path, host.url)
            await asyncio.to_thread(_run, root, "pin", "orders")
            await asyncio.to_thread(_run, root, "build")
            plugins = load_plugins(["transport-rest"], {"ORDERS_TOKEN": TOKEN})
            async with Runtime.open(root / "dist/test.octoc", plugins=plugins) as runtime:
                assert [tool.alias for tool in runtime.bundle.tools] == ["orders__find_order"]
                session = runtime.session(tenant="acme", correlation_id="episode-7", user="u7")
                arguments = {"tool_name": "orders__find_order", "arguments": {"id": 7}}
                return await session.call("call_mcp_tool", arguments)
        finally:
            await host.close()

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, ToolResult), outcome
    assert json.loads(outcome.text) == {"id": 7, "state": "paid"}
    assert seen == [Caller(tenant="acme", correlation_id="episode-7", user="u7")]
    for path in (tmp_path / "dist/test.octoc", tmp_path / "octoc.lock", tmp_path / "snapshots/orders.json"):
        assert TOKEN.encode() not in path.read_bytes()


def test_a_call_says_what_is_cut_off_its_result(tmp_path: Path) -> None:
    """`octoc call` reports the unread part of a long result, in both output formats."""
    letters = PythonTool(
        name="letters", description="Gives letters", input_schema={"type": "object"}, handler=lambda _: "x" * 600
    )

    async def scenario() -> tuple[Result, Result]:
        host = await serve([letters], token=TOKEN)
        try:
            root = _workspace(tmp_path, host.url, servers={"orders": {"max_body_bytes": 500}})
            await asyncio.to_thread(_run, root, "pin", "orders")
            await asyncio.to_thread(_run, root, "build")
            text = await asyncio.to_thread(_run, root, "call", "orders/letters")
            return text, await asyncio.to_thread(_run, root, "call", "orders/letters", "--json")
        finally:
            await host.close()

    text, as_json = asyncio.run(scenario())
    assert len(text.stdout.rstrip("\n")) == 500
    assert "the result is cut: the first 500 bytes of at least 602; `max_body_bytes`" in text.stderr
    cut = {"stage": "transport", "original": 602, "kept": 500, "unit": "bytes"}
    assert json.loads(as_json.stdout)["truncations"] == [cut]


class Changing:
    """A registry whose tools a test changes."""

    caller = Caller()

    def __init__(self) -> None:
        self.names = ["find_order"]

    def tools(self, format: str) -> list[dict[str, Any]]:  # noqa: A002  # as in Session
        return [{"name": name, "description": f"The tool {name}", "inputSchema": ORDER} for name in self.names]

    async def call(self, name: str, arguments: Any = None, *, caller: Caller | None = None) -> ToolResult:
        return ToolResult.of_text(name)


def test_each_reload_lists_the_tools_again(tmp_path: Path) -> None:
    """A tool that a REST server got since it was listed joins after a reload."""

    async def found(session: Session, name: str) -> None:
        async with asyncio.timeout(60):
            while name not in (await session.call("find_tools", {"query": name})).text:
                await asyncio.sleep(0.01)
                await session.renew()

    async def scenario() -> None:
        registry = Changing()
        host = await serve(registry, token=TOKEN)
        try:
            root = _workspace(tmp_path, host.url, search={"bind": "never"})
            await asyncio.to_thread(_run, root, "build")
            plugins = load_plugins(["transport-rest"], {"ORDERS_TOKEN": TOKEN})
            async with Runtime.open(root / "dist/test.octoc", plugins=plugins) as runtime:
                session = runtime.session()
                assert await session.connect_unlisted() == {}
                await found(session, "orders__find_order")
                registry.names.append("cancel_order")
                await runtime.reload(root / "dist/test.octoc")
                await found(session, "orders__cancel_order")
                runtime.state.current.pool.drop("orders")
                registry.names.append("pay_order")
                await runtime.reload(root / "dist/test.octoc")
                await found(session, "orders__pay_order")
        finally:
            await host.close()

    asyncio.run(scenario())
