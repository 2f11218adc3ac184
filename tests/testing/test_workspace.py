import asyncio
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.workspace.build import resolve_workspace
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import plugins_of
from octoc.results import ToolResult
from octoc.runtime import Runtime
from octoc.testing import InProcessPlugin, WorkspaceBuilder, echo_tool


def full(root: Path) -> WorkspaceBuilder:
    """A workspace with one of everything."""
    builder = WorkspaceBuilder(root, routing={"gate": "octomind", "threshold": 0.3, "margin": 0.05})
    return (
        builder.server("disk", "disk-server", "--root", "${workspaceFolder}")
        .capability("clock", ["what time is it", "current time in Tokyo"], server={"command": "clock-server"})
        .capability(
            "files", ["read a file", "open the file"], server="disk", allowed_tools=["disk:read*"], provider="x"
        )
        .agent("helper", type="worker", tools=["now"])
        .octomind_agent("developer", "general", capabilities=["files"])
        .skill("tidy", capabilities=["files"])
        .snapshot("clock", [echo_tool("now")])
        .snapshot("disk", ["read_file", "write_file"], instructions="Be careful.", package="disk")
    )


def test_one_of_everything_is_sound(tmp_path: Path) -> None:
    """A workspace with servers, capabilities, agents, a skill and snapshots has no warning and no error."""
    outcome = check_workspace(full(tmp_path).write(), plugins=plugins_of(InProcessPlugin()))
    assert [found for found in outcome.diagnostics if found.severity > Severity.INFO] == []


def test_what_was_described_is_there(tmp_path: Path) -> None:
    """Resolving the workspace finds the capabilities, agents, skill, and servers with the recorded tools."""
    made, _, _ = resolve_workspace(full(tmp_path).write(), plugins=plugins_of())
    assert made is not None
    assert {one.name: one.provider for one in made.resolved.capabilities} == {"clock": "default", "files": "x"}
    assert {"helper", "developer:general"} <= {agent.name for agent in made.resolved.agents}
    assert [skill.source.name for skill in made.resolved.skills] == ["tidy"]
    assert {server.name: [tool.name for tool in server.tools] for server in made.resolved.servers} == {
        "disk": ["read_file", "write_file"],
        "clock": ["now"],
    }


def test_the_same_calls_write_the_same_files(tmp_path: Path) -> None:
    """Two builders of the same calls write the same files with the same bytes, and writing again changes nothing."""

    def files(root: Path) -> dict[str, bytes]:
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}

    one, other = (full(tmp_path / name) for name in ("one", "other"))
    first = files(one.write())
    assert files(other.write()) == first
    assert files(one.write()) == first


def test_a_snapshot_of_no_server_is_refused(tmp_path: Path) -> None:
    """A snapshot whose server is defined nowhere is the test's own mistake, and says so."""
    with pytest.raises(ValueError, match="snapshot is of server `none`"):
        WorkspaceBuilder(tmp_path).snapshot("none", ["a"]).write()


def test_from_a_builder_to_a_call(tmp_path: Path) -> None:
    """A built workspace opens, routes a message, and calls a tool of an in-process server."""
    plugins = plugins_of(InProcessPlugin({"clock": [echo_tool("now")], "disk": [echo_tool("read_file")]}))
    outcome = full(tmp_path).build(plugins)
    assert outcome.bundle is not None, outcome.diagnostics

    async def run(bundle: Path) -> tuple[str | None, object]:
        async with Runtime.open(bundle, plugins=plugins) as runtime:
            session = runtime.session()
            routing = await session.on_user_message("what time is it in Tokyo")
            return routing.capability, await session.call("clock/now", {"text": "hi"})

    capability, result = asyncio.run(run(outcome.bundle))
    assert capability == "clock"
    assert isinstance(result, ToolResult)
    assert "hi" in result.text
