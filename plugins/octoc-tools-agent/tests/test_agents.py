"""Octo's table of agents with the tools of this plugin, in a workspace that is built, opened and asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import octoc_tools_agent
from octoc.plugin import Plugins, ToolFailure, plugins_of
from octoc.runtime import Runtime
from octoc.testing import BuiltinTools, WorkspaceBuilder
from octoc_tools_agent import HostFunctions, bind

SUPERVISOR = {
    *("write_todos", "read_todos", "write_memory", "read_memories", "update_long_term_memory", "update_state_md"),
    *("use_skill", "schedule_task", "send_file"),
}
RESEARCH = {"write_todos", "task"}
PROXY = {"find_tools", "call_mcp_tool"}
NOTES = BuiltinTools("notes", {f"note_{number}": "tea" for number in range(40)})
"""A plugin with tools of another builtin server, which are searched as those of any server."""


def _plugins() -> Plugins:
    return plugins_of(octoc_tools_agent, NOTES)


def _workspace(folder: Path, **workspace: Any) -> WorkspaceBuilder:
    builder = WorkspaceBuilder(
        folder,
        servers={"octo": {"builtin": "octo"}, "notes": {"builtin": "notes"}},
        aliases={"style": "bare"},
    ).settings("workspace", **workspace)
    return (
        builder.skill("review", "Read it twice.")
        .skill("secret")
        .agent("supervisor", type="supervisor", skills=["review"])
        .agent("worker")
        .agent("reader", tools=["note_1"])
        .agent("researcher", type="deep_research")
        .agent("scholar", type="deep_research", tools=["note_2"])
        .agent("project", type="project")
    )


def _opened(builder: WorkspaceBuilder) -> Runtime:
    outcome = builder.build(_plugins())
    assert outcome.bundle is not None, outcome.diagnostics
    return Runtime.open(outcome.bundle, plugins=_plugins())


def _shown(runtime: Runtime, agent: str) -> set[str]:
    own = {"read_result", "capability", "skill"}
    return {str(tool["name"]) for tool in runtime.owners_session(agent).tools("mcp")} - own


@pytest.mark.parametrize(
    "agent, direct",
    [
        ("supervisor", SUPERVISOR | PROXY),
        ("worker", PROXY),
        ("reader", {"note_1"}),
        ("researcher", RESEARCH | PROXY),
        ("scholar", RESEARCH | {"note_2"}),
        ("project", {"claude_code"}),
    ],
)
def test_the_table(tmp_path: Path, agent: str, direct: set[str]) -> None:
    """Each type of agent has the tools of its row, and those of other rows do not exist for it, by any way."""

    async def run() -> None:
        async with _opened(_workspace(tmp_path)) as runtime:
            assert _shown(runtime, agent) == direct
            session = runtime.owners_session(agent)
            assert "octo__" not in session.servers_prompt
            for tool in sorted((SUPERVISOR | RESEARCH | {"claude_code"}) - direct):
                outcome = await session.call(tool, {})
                assert isinstance(outcome, ToolFailure), tool
                assert (outcome.kind, outcome.sent) == ("not_found", False)
                assert tool not in outcome.similar
                if direct >= PROXY:
                    text = (await session.call("call_mcp_tool", {"tool_name": tool, "arguments": {}})).text
                    assert text.startswith(f"[Error] Tool '{tool}' not found."), text
                    hits = (await session.call("find_tools", {"query": tool})).text
                    assert f'"name": "{tool}"' not in hits

    asyncio.run(run())


def test_tools_of_a_supervisor(tmp_path: Path) -> None:
    """A supervisor of a bundle plans, remembers, and asks the host, with the arguments checked by octoc."""

    async def run() -> None:
        async with _opened(_workspace(tmp_path)) as runtime:
            bind(runtime, HostFunctions(schedule_task=lambda given: f"{given['task']} {given['spec']}"))
            session = runtime.session("supervisor", user="ann")
            assert (await session.call("write_todos", {"todos": [{"task": "a"}]})).text == "Updated plan with 1 tasks."
            assert json.loads((await session.call("read_todos", {})).text) == [{"task": "a", "status": "pending"}]
            refused = await session.call("write_todos", {"todos": [{"task": "a", "status": "someday"}]})
            assert isinstance(refused, ToolFailure)
            assert refused.kind == "bad_request"
            assert (await session.call("schedule_task", {"task": "tea", "spec": "in 2h"})).text == "tea in 2h"
            failed = await session.call("send_file", {"file_path": "a"})
            assert not failed.ok
            assert "send_file is not available" in failed.text
            other = runtime.session("supervisor", user="ben")
            assert (await other.call("read_todos", {})).text == "No active plan."
            researcher = runtime.session("researcher", user="ann")
            assert (await researcher.call("write_todos", {"todos": []})).text == "Updated plan with 0 tasks."
            assert json.loads((await session.call("read_todos", {})).text) == [{"task": "a", "status": "pending"}]
        assert (tmp_path / ".octo" / "agent.db").is_file()

    asyncio.run(run())


def test_use_skill(tmp_path: Path) -> None:
    """`use_skill` gives the text of a skill that the agent may use, and notes its use; others do not exist."""

    async def run() -> None:
        async with _opened(_workspace(tmp_path)) as runtime:
            session = runtime.session("supervisor", user="ann")
            used = await session.call("use_skill", {"skill_name": "review", "user_request": "look at this"})
            assert used.text.startswith("[Skill: review]\n\n")
            assert "Read it twice." in used.text
            assert used.text.endswith("\n\nUser request: look at this")
            assert session.skills == ("review",)
            for name in ("secret", "absent"):
                text = (await session.call("use_skill", {"skill_name": name})).text
                assert text == f"Unknown skill '{name}'. Available: review"

    asyncio.run(run())


def test_a_build_writes_no_file(tmp_path: Path) -> None:
    """A build, and opening the bundle, leave no file of memories; the first call makes it."""
    with_it = _opened(_workspace(tmp_path))
    assert _shown(with_it, "supervisor") >= SUPERVISOR
    assert not (tmp_path / ".octo").exists()


def test_production_needs_a_grant(tmp_path: Path) -> None:
    """In production an agent has only those of its tools that a grant names."""
    builder = _workspace(tmp_path, mode="production").settings("scopes", profile="allow")
    grants = '[[grants]]\nagents = ["supervisor", "worker"]\ntools = ["octo/read_todos", "octo/claude_code"]\n'
    runtime = _opened(builder.file("scopes/grants.toml", grants))
    every = SUPERVISOR | RESEARCH | {"claude_code"}
    assert {agent: _shown(runtime, agent) & every for agent in runtime.agents} == {
        "supervisor": {"read_todos"},
        "worker": set(),
        "reader": set(),
        "researcher": set(),
        "scholar": set(),
        "project": set(),
    }


def test_scopes_apply(tmp_path: Path) -> None:
    """A denied tool does not exist, also for deep research agents with `tools` and for project agents."""
    denied = '[[deny]]\nagents = ["scholar", "project", "supervisor"]\ntools = ["octo/task", "octo/claude_code"]\n'
    runtime = _opened(_workspace(tmp_path).file("scopes/a.toml", denied))
    assert _shown(runtime, "scholar") == {"note_2", "write_todos"}
    assert _shown(runtime, "project") == set()
    assert _shown(runtime, "supervisor") == SUPERVISOR | PROXY


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"pth": "x"}, "unknown setting `pth`: did you mean `path`?"),
        ({"path": ""}, "`path` must be a path"),
        ({"memory_kb": 0}, "`memory_kb` must be a whole number above 0"),
        ({"projects": "."}, "`projects` must be a list of folders"),
    ],
)
def test_wrong_settings(tmp_path: Path, settings: dict[str, Any], problem: str) -> None:
    """A wrong setting is an error of the build with its place."""
    builder = WorkspaceBuilder(tmp_path, servers={"octo": {"builtin": "octo", "settings": settings}}).agent("worker")
    (found,) = [one for one in builder.build(_plugins()).diagnostics if one.rule.code == "OCT797"]
    assert found.message == f"builtin server `octo` has no tools: {problem}"
