"""Octo's tools that agents have by their type: named by an agent of that type, or of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import octoc_tools_agent
import octoc_tools_files
from octoc.plugin import plugins_of
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder


def _found(folder: Path, *plugins: object, servers: tuple[str, ...] = (), **front: Any) -> list[tuple[str, str, str]]:
    """Return code, severity and message of what a build says about an agent's tools."""
    builder = WorkspaceBuilder(folder, servers={name: {"builtin": name} for name in servers})
    outcome = builder.agent("one", **front).build(plugins_of(*plugins))
    return [
        (found.rule.code, found.severity.name, found.message)
        for found in outcome.diagnostics
        if found.span is not None and found.span.file.endswith("AGENT.md")
    ]


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize(
    "type_, tool, types",
    [
        ("", "write_todos", "`supervisor` or `deep_research`"),
        ("", "send_file", "`supervisor`"),
        ("deep_research", "write_memory", "`supervisor`"),
        ("deep_research", "claude_code", "`project`"),
    ],
)
def test_tools_of_another_type(tmp_path: Path, installed: bool, type_: str, tool: str, types: str) -> None:
    """A tool of another type is one warning, with and without the plugin that has it, and no fix renames it."""
    found = _found(
        tmp_path,
        *((octoc_tools_agent,) if installed else ()),
        servers=("octo",) if installed else (),
        tools=["Read", tool],
        **({"type": type_} if type_ else {}),
    )
    assert found == [("OCT786", "WARNING", f"tool `{tool}` of agent `one` is only for agents of type {types}")]


@pytest.mark.parametrize("plugins", [(), (octoc_tools_agent, octoc_tools_files)])
def test_tools_of_the_own_type(tmp_path: Path, plugins: tuple[object, ...]) -> None:
    """A deep research agent that names its own tools is silent: the host has them, or the plugins."""
    servers = ("octo", "files") if plugins else ()
    named = ["write_todos", "read_file", "task"]
    assert _found(tmp_path, *plugins, servers=servers, type="deep_research", tools=named) == []
    (bundle,) = (tmp_path / "dist").glob("*.octoc")
    session = Runtime.open(bundle, plugins=plugins_of(*plugins)).owners_session("one")
    assert session.host_tools == (() if plugins else tuple(named))


@pytest.mark.parametrize("type_", ["worker", "deep_research"])
def test_a_server_with_a_tool_of_that_name(tmp_path: Path, type_: str) -> None:
    """A tool of a server counts before Octo's tool of the same name."""
    builder = (
        WorkspaceBuilder(tmp_path)
        .server("plans", "plans-mcp")
        .snapshot("plans", ["write_todos", "read_file"])
        .agent("one", tools=["write_todos", "read_file"], type=type_)
    )
    outcome = builder.build(plugins_of())
    assert not [found for found in outcome.diagnostics if found.rule.code in ("OCT321", "OCT330", "OCT786")]
    assert outcome.bundle is not None
    session = Runtime.open(outcome.bundle, plugins=plugins_of()).owners_session("one")
    assert session.host_tools == ()
    assert {str(tool["name"]) for tool in session.tools("mcp")} >= {"plans__write_todos", "plans__read_file"}


@pytest.mark.parametrize("server, plugin", [("octo", "tools-agent"), ("files", "tools-files")])
def test_a_server_of_octocs_own_plugin(tmp_path: Path, server: str, plugin: str) -> None:
    """Where no plugin binds its tools, the message names the plugin, and how to install it."""
    outcome = WorkspaceBuilder(tmp_path, servers={server: {"builtin": server}}).agent("one").build(plugins_of())
    (found,) = [one for one in outcome.diagnostics if one.rule.code == "OCT315"]
    assert f"name `{plugin}` in `[plugins] use`" in str(found.help)
    assert f"octoc-{plugin}" in str(found.help)
    settings = {server: {"builtin": server, "settings": {"path": "x"}}}
    outcome = WorkspaceBuilder(tmp_path / "b", servers=settings).agent("one").build(plugins_of())
    (found,) = [one for one in outcome.diagnostics if one.rule.code == "OCT797"]
    assert found.help == f"name `{plugin}` in `[plugins] use`, or delete the settings"
