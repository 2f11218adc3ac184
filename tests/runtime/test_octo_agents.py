"""Octo's table of agent types, row by row: a workspace with all plugins and real servers, pinned, built, opened, asked.

Source: Octo, tool distribution by agent type. The tools of its lifecycle (`task_complete`, `escalate_question`) and the
hand-overs to workers are the host's, which runs the graph.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.cli import main
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.testing import WorkspaceBuilder

BUILT_IN = {"Read", "Grep", "Glob", "Edit", "Bash"}
SUPERVISOR_ONLY = {
    *("write_todos", "read_todos", "use_skill", "write_memory", "read_memories", "update_long_term_memory"),
    *("schedule_task", "send_file", "update_state_md"),
}
DEEP_AGENTS = {"write_todos", "ls", "read_file", "write_file", "edit_file", "glob", "grep", "task"}
MCP = {"get_current_time", "convert_time", "git_log", "git_status"}
PROXY = {"find_tools", "call_mcp_tool"}
ROWS: dict[str, tuple[set[str], set[str]]] = {
    "supervisor": (BUILT_IN | SUPERVISOR_ONLY, PROXY),
    "worker": (BUILT_IN, PROXY),
    "curated": ({"Read", "Bash", "get_current_time", "git_log"}, set()),
    "researcher": (DEEP_AGENTS, PROXY),
    "scholar": (DEEP_AGENTS | {"convert_time"}, set()),
    "project": ({"claude_code"}, set()),
}
EVERY = BUILT_IN | SUPERVISOR_ONLY | DEEP_AGENTS | MCP | {"claude_code"}
UTC = {"timezone": "UTC"}
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "Read": ({"file_path": "a.txt"}, "     1\tone"),
    "Grep": ({"pattern": "o.e"}, "a.txt:1:> one"),
    "Glob": ({"pattern": "*.txt"}, "a.txt"),
    "Edit": ({"file_path": "a.txt", "old_string": "one", "new_string": "two"}, "Successfully edited a.txt"),
    "Bash": ({"command": "cat a.txt"}, "o"),  # `one`, or `two` after the edit
    "write_todos": ({"todos": [{"task": "look"}]}, "Updated plan with 1 tasks."),
    "read_todos": ({}, '"task": "look"'),
    "write_memory": ({"content": "likes tea"}, "Memory saved to "),
    "read_memories": ({}, "likes tea"),
    "update_long_term_memory": ({"content": "a baker"}, "MEMORY.md updated (1 lines)"),
    "update_state_md": ({"active_plan": "bake"}, "STATE.md updated at "),
    "use_skill": ({"skill_name": "review"}, "Read it twice."),
    "write_file": ({"file_path": "/notes.md", "content": "tea\n"}, "Updated file notes.md"),
    "ls": ({}, "notes.md"),
    "read_file": ({"file_path": "/notes.md"}, "     1\ttea"),
    "edit_file": ({"file_path": "/notes.md", "old_string": "tea", "new_string": "milk"}, "Successfully edited"),
    "glob": ({"pattern": "*.md"}, "notes.md"),
    "grep": ({"pattern": "milk"}, "notes.md"),
    "claude_code": ({"prompt": "What is 6 * 7?"}, "42 in "),
    "get_current_time": (UTC, '"timezone": "UTC"'),
    "convert_time": ({"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"}, "12:00"),
    "git_log": ({"repo_path": "."}, "the first commit"),
    "git_status": ({"repo_path": "."}, "branch"),
}
"""Tool -> arguments, and a part of the answer. Tools of one agent are called in this order."""
NEED_THE_HOST = {"schedule_task": {"task": "tea", "spec": "in 2h"}, "send_file": {"file_path": "a.txt"}}
NEED_THE_HOST["task"] = {"description": "look", "subagent_type": "general-purpose"}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, python_server: Callable[[str], Path]) -> Path:
    """The bundle of a workspace with an agent for each row, made by `octoc pin` and `octoc build`."""
    folder = tmp_path_factory.mktemp("octo")
    code = folder / "code"
    code.mkdir()
    (code / "a.txt").write_text("one\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "init", "-q", "-b", "main", str(code)], check=True)
    subprocess.run(["git", "-C", str(code), "add", "."], check=True)
    subprocess.run(["git", "-C", str(code), *identity, "commit", "-qm", "the first commit"], check=True)
    workspace = (
        WorkspaceBuilder(
            folder,
            servers={
                "files": {"builtin": "files", "settings": {"root": "code", "programs": ["cat"]}},
                "octo": {"builtin": "octo"},
            },
            plugins={"use": ["transport-mcp", "tools-files", "tools-agent"]},
            aliases={"style": "bare"},
            routing={"gate": "octomind"},
            search={"bind": "never"},
        )
        .server("time", str(python_server("mcp-server-time")), "--local-timezone=UTC")
        .server("git", str(python_server("mcp-server-git")), "--repository", str(code))
        .skill("review", "Read it twice.")
        .agent("supervisor", type="supervisor")
        .agent("worker")
        .agent("curated", tools=["Read", "Bash", "get_current_time", "git_log"])
        .agent("researcher", type="deep_research")
        .agent("scholar", type="deep_research", tools=["convert_time"])
        .agent("project", type="project")
        .write()
    )
    assert main(["pin", "--yes", "--workspace", str(workspace)]) == 0
    assert main(["build", "--workspace", str(workspace), "--allow-degraded"]) == 0
    (made,) = (folder / "dist").glob("*.octoc")
    return made


def _direct(session: Session) -> set[str]:
    own = {"read_result", "capability", "skill"}
    return {str(tool["name"]) for tool in session.tools("mcp")} - own


@pytest.mark.parametrize("agent", ROWS)
def test_direct_tools(bundle: Path, agent: str) -> None:
    """An agent has exactly the direct tools and the proxy of its row."""
    direct, proxy = ROWS[agent]
    session = Runtime.open(bundle).owners_session(agent)
    assert _direct(session) == direct | proxy
    assert session.host_tools == ()


@pytest.mark.parametrize("agent", ROWS)
def test_every_direct_tool_works(bundle: Path, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each direct tool does its work, or says that it needs the host; any other tool does not exist for the agent."""
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\nread -r question; echo "{\\"result\\": \\"42 in $PWD\\"}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    code = bundle.parents[1] / "code"

    async def run() -> None:
        (code / "a.txt").write_text("one\n")
        direct, proxy = ROWS[agent]
        async with Runtime.open(bundle) as runtime:
            session = runtime.session(agent, user="ann")
            for tool, (arguments, part) in CALLS.items():
                given = {**arguments, **({"repo_path": str(code)} if "repo_path" in arguments else {})}
                outcome = await session.call(tool, given)
                if tool in direct or (proxy and tool in MCP):
                    assert isinstance(outcome, ToolResult), (tool, outcome)
                    assert not outcome.is_error, (tool, outcome.text)
                    assert part in outcome.text, (tool, outcome.text)
                else:
                    assert isinstance(outcome, ToolFailure), tool
                    assert (outcome.kind, outcome.sent) == ("not_found", False), tool
            for tool, given in NEED_THE_HOST.items():
                outcome = await session.call(tool, given)
                assert not outcome.ok
                assert (f"{tool} is not available" in outcome.text) == (tool in direct), (tool, outcome.text)

    asyncio.run(run())


@pytest.mark.parametrize("agent", ROWS)
def test_access_to_servers(bundle: Path, agent: str) -> None:
    """A row with the proxy finds and calls every tool of the servers, and no built-in one; others have no proxy."""

    async def run() -> None:
        async with Runtime.open(bundle) as runtime:
            session = runtime.session(agent, user="ann")
            called = await session.call("call_mcp_tool", {"tool_name": "get_current_time", "arguments": UTC})
            found = await session.call("find_tools", {"query": "get_current_time"})
            if not ROWS[agent][1]:
                assert [isinstance(one, ToolFailure) and one.kind for one in (called, found)] == ["not_found"] * 2
                assert session.servers_prompt == ""
                return
            assert json.loads(called.text)["timezone"] == "UTC"
            assert "get_current_time" in found.text
            assert "**time** (2 tools): get_current_time, convert_time" in session.servers_prompt
            assert "**git** (12 tools)" in session.servers_prompt
            assert not any(f"**{server}**" in session.servers_prompt for server in ("files", "octo"))
            for tool in sorted(EVERY - MCP - ROWS[agent][0]):
                outcome = await session.call("call_mcp_tool", {"tool_name": tool, "arguments": {}})
                assert outcome.text.startswith(f"[Error] Tool '{tool}' not found."), tool

    asyncio.run(run())
