"""Octo's table of agents and tools, row by row, with real tools; and what scopes and production change."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

import octoc_tools_files
from octoc.plugin import AuditLog, Plugins, ToolFailure, plugins_of
from octoc.runtime import Runtime
from octoc.testing import BuiltinTools, WorkspaceBuilder

BUILT_IN = {"Read", "Grep", "Glob", "Edit", "Bash"}
RESEARCH = {"ls", "read_file", "write_file", "edit_file", "glob", "grep"}
PROXY = {"find_tools", "call_mcp_tool"}
NOTES = BuiltinTools("notes", {f"note_{number}": "tea" for number in range(40)})
"""A plugin with tools of another builtin server, which are searched as those of any server."""


def _plugins() -> Plugins:
    return plugins_of(octoc_tools_files, NOTES)


def _workspace(folder: Path, **workspace: Any) -> WorkspaceBuilder:
    builder = WorkspaceBuilder(
        folder,
        servers={
            "files": {"builtin": "files", "settings": {"programs": ["*"], "root": "code"}},
            "notes": {"builtin": "notes"},
        },
        aliases={"style": "bare"},
        routing={"gate": "octomind"},
    ).settings("workspace", **workspace)
    return (
        builder.file("code/a.txt", "one\n")
        .agent("supervisor", type="supervisor")
        .agent("worker")
        .agent("reader", tools=["Read", "Grep", "note_1"])
        .agent("limited", tools=["Read", "Bash(git log:*)"])
        .agent("researcher", type="deep_research")
        .agent("scholar", type="deep_research", tools=["Read", "note_2"])
        .agent("project", type="project")
    )


def _opened(builder: WorkspaceBuilder) -> Runtime:
    outcome = builder.build(_plugins())
    assert outcome.bundle is not None, outcome.diagnostics
    return Runtime.open(outcome.bundle, plugins=_plugins())


def _shown(runtime: Runtime, agent: str) -> set[str]:
    return {str(tool["name"]) for tool in runtime.owners_session(agent).tools("mcp")} - {"read_result", "capability"}


@pytest.mark.parametrize(
    "agent, direct, host_tools",
    [
        ("supervisor", BUILT_IN | PROXY, ()),
        ("worker", BUILT_IN | PROXY, ()),
        ("reader", {"Read", "Grep", "note_1"}, ()),
        ("limited", {"Read"}, ("Bash(git log:*)",)),
        ("researcher", RESEARCH | PROXY, ()),
        ("scholar", RESEARCH | {"note_2"}, ("Read",)),
        ("project", set(), ()),
    ],
)
def test_the_table(tmp_path: Path, agent: str, direct: set[str], host_tools: tuple[str, ...]) -> None:
    """Each type of agent has the direct tools and the proxy of its row, and can call no other built-in tool."""

    async def run() -> None:
        async with _opened(_workspace(tmp_path)) as runtime:
            assert _shown(runtime, agent) == direct
            session = runtime.owners_session(agent)
            assert session.host_tools == host_tools
            calls = {
                "Read": ({"file_path": "a.txt"}, "     1\tone"),
                "Grep": ({"pattern": "one"}, "a.txt:1:> one"),
                "Glob": ({"pattern": "*"}, "a.txt"),
                "Edit": ({"file_path": "a.txt", "old_string": "one", "new_string": "two"}, "Successfully edited a.txt"),
                "Bash": ({"command": "cat a.txt"}, "two\n"),
                "ls": ({}, "No files found in /"),
                "write_file": ({"file_path": "/b.md", "content": "tea"}, "Updated file b.md"),
                "read_file": ({"file_path": "/b.md"}, "     1\ttea"),
                "edit_file": (
                    {"file_path": "/b.md", "old_string": "tea", "new_string": "milk"},
                    "Successfully edited b.md",
                ),
                "glob": ({"pattern": "*"}, "b.md"),
                "grep": ({"pattern": "milk"}, "b.md"),
            }
            for tool, (arguments, text) in calls.items():
                outcome = await session.call(tool, arguments)
                if tool in direct:
                    assert outcome.text == text
                else:
                    assert isinstance(outcome, ToolFailure), tool
                    assert (outcome.kind, outcome.sent) == ("not_found", False)
            assert "files" not in session.servers_prompt
            if direct >= PROXY:
                assert "**notes** (40 tools)" in session.servers_prompt
                found = (await session.call("find_tools", {"query": "note_7"})).text
                assert "note_7" in found
                assert (await session.call("call_mcp_tool", {"tool_name": "note_7"})).text == "tea"

    asyncio.run(run())


def test_no_agent_has_them_before_the_workspace_asks(tmp_path: Path) -> None:
    """An installed distribution gives no agent anything: the workspace names the plugin and declares the server."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": ["tools-files"]}).agent("worker")
    outcome = builder.build(_plugins())
    assert outcome.bundle is not None
    with_it = Runtime.open(outcome.bundle, plugins=_plugins())
    assert (_shown(with_it, "worker"), list(with_it.servers)) == (set(), [])


@pytest.mark.parametrize("profile", ["allow", "deny"])
def test_production_needs_a_grant(tmp_path: Path, profile: str) -> None:
    """In production an agent has only the built-in tools that a grant names, whatever the profile."""
    builder = _workspace(tmp_path, mode="production").settings("scopes", profile=profile)
    grants = '[[grants]]\nagents = ["worker", "reader", "researcher"]\ntools = ["files/Read", "files/Glob"]\n'
    outcome = builder.file("scopes/grants.toml", grants).build(_plugins())
    assert outcome.bundle is not None, outcome.diagnostics
    assert "agent `reader` asks for tool `Grep`, which is not granted to it" in {d.message for d in outcome.diagnostics}
    runtime = Runtime.open(outcome.bundle, plugins=_plugins())
    assert {agent: _shown(runtime, agent) & BUILT_IN for agent in runtime.agents} == {
        "supervisor": set(),
        "worker": {"Read", "Glob"},
        "reader": {"Read"},
        "limited": set(),
        "researcher": set(),
        "scholar": set(),
        "project": set(),
    }


def test_production_without_a_grant(tmp_path: Path) -> None:
    """In production without any grant, no agent has a built-in tool."""
    runtime = _opened(_workspace(tmp_path, mode="production").settings("scopes", profile="allow"))
    assert [_shown(runtime, agent) & BUILT_IN for agent in runtime.agents] == [set()] * 7


def test_scopes_apply(tmp_path: Path) -> None:
    """A denied tool does not exist, and the profile `deny` gives only what is granted."""
    denied = '[[deny]]\nagents = ["worker"]\ntools = ["files/Glob"]\n'
    granted = '[[grants]]\nagents = ["worker"]\ntools = ["files/Read", "files/Grep"]\n'
    builder = _workspace(tmp_path).settings("scopes", profile="deny").file("scopes/a.toml", f"{granted}\n{denied}")
    runtime = _opened(builder)
    assert _shown(runtime, "worker") & BUILT_IN == {"Read", "Grep"}
    assert _shown(runtime, "supervisor") & BUILT_IN == set()


def test_calls_are_audited_and_cut(tmp_path: Path) -> None:
    """A call has its line in the audit log, and a long result is cut and kept as that of any server."""
    builder = _workspace(tmp_path).settings("results", max_chars=200)
    outcome = builder.file("code/long.txt", "word\n" * 1000).build(_plugins())
    log = io.StringIO()

    async def run() -> None:
        assert outcome.bundle is not None
        observers = [AuditLog(log)]
        async with Runtime.open(outcome.bundle, plugins=_plugins(), observers=observers) as runtime:
            session = runtime.session("worker", user="ann")
            cut = await session.call("Read", {"file_path": "long.txt"})
            assert not isinstance(cut, ToolFailure)
            assert (cut.handle is not None, len(cut.text) < 1000) == (True, True)
            await session.call("Edit", {"file_path": "../x", "old_string": "a", "new_string": "b"})

    asyncio.run(run())
    events = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(event["server"], event["tool"], event["outcome"], event["user"]) for event in events] == [
        ("files", "Read", "ok", "ann"),
        ("files", "Edit", "tool_error", "ann"),
    ]


def test_conversations_remember_what_they_read(tmp_path: Path) -> None:
    """What one conversation read does not stop the edit of another one."""

    async def run() -> list[str]:
        async with _opened(_workspace(tmp_path)) as runtime:
            first, second = runtime.session("worker", name="1"), runtime.session("worker", name="2")
            await first.call("Read", {"file_path": "a.txt"})
            edits = [("one", "two"), ("two", "three"), ("three", "four")]
            by = [second, second, first]
            outcomes = [
                await session.call("Edit", {"file_path": "a.txt", "old_string": old, "new_string": new})
                for session, (old, new) in zip(by, edits, strict=True)
            ]
            return [outcome.text for outcome in outcomes]

    assert asyncio.run(run()) == [
        "Successfully edited a.txt",
        "Successfully edited a.txt",
        "Error editing a.txt: the file changed since it was read; read it again",
    ]


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"rooot": "x"}, "unknown setting `rooot`: did you mean `root`?"),
        ({"programs": "git"}, "`programs` must be a list of programs"),
        ({"seconds": 0}, "`seconds` must be a whole number above 0"),
        ({"hard_links": "yes"}, "`hard_links` must be true or false"),
        ({"root": ""}, "`root` must be a path"),
    ],
)
def test_wrong_settings(tmp_path: Path, settings: dict[str, Any], problem: str) -> None:
    """A wrong setting is an error of the build with its place, and the server has no tools."""
    builder = WorkspaceBuilder(tmp_path, servers={"files": {"builtin": "files", "settings": settings}}).agent("worker")
    (found,) = [one for one in builder.build(_plugins()).diagnostics if one.rule.code == "OCT797"]
    assert found.message == f"builtin server `files` has no tools: {problem}"
    assert found.span is not None
    assert found.span.file == "octoc.toml"


def test_time_limit_of_bash(tmp_path: Path) -> None:
    """A call of `Bash` may take as long as its command, and what octoc.toml sets for the server or the tool counts."""
    outcome = _workspace(tmp_path).build(_plugins())
    assert outcome.bundle is not None
    (policy,) = Runtime.open(outcome.bundle, plugins=_plugins()).servers["files"].tools
    assert (policy.glob, policy.timeout_s) == ("Bash", 130.0)
