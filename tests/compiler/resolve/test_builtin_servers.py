"""Builtin servers of octoc.toml whose tools a plugin binds: recorded by the build, and called with their settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.workspace.build import BuildOutcome
from octoc.plugin import PluginError, PythonTool, ServerTarget, current_caller, hookimpl
from octoc.plugin.manager import Plugins, plugins_of
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder


class Notes:
    """A plugin whose tools answer with a setting and the caller."""

    def __init__(self) -> None:
        self.targets: list[ServerTarget] = []

    @hookimpl
    def octoc_tools(self, server: str, target: ServerTarget) -> list[PythonTool] | None:
        if server != "notes":
            return None
        self.targets.append(target)
        words = target.settings.get("words", [])
        if not isinstance(words, list):
            raise PluginError("`words` must be a list")
        schema = {"type": "object"}

        def tool(name: str, **fields: Any) -> PythonTool:
            async def handle(_: object) -> str:
                return f"{name} {words} for {current_caller().user}"

            return PythonTool(name=name, description=f"The tool {name}", input_schema=schema, handler=handle, **fields)

        return [tool("plain"), tool("own", direct_for=("worker",), timeout_s=90.0), *map(tool, words)]


def _built(tmp_path: Path, plugins: Plugins, **server: Any) -> BuildOutcome:
    builder = WorkspaceBuilder(tmp_path, servers={"notes": {"builtin": "notes", **server}})
    return builder.agent("supervisor", type="supervisor").agent("worker").agent("namer", tools=["own"]).build(plugins)


def test_a_build_records_the_tools_of_a_plugin(tmp_path: Path) -> None:
    """The bundle has the tools that the plugin binds; only agents of its types have a direct one."""
    notes = Notes()
    outcome = _built(tmp_path, plugins_of(notes), settings={"words": ["one"]})
    assert outcome.bundle is not None
    (target,) = notes.targets
    assert (target.name, target.cwd, target.production) == ("notes", str(tmp_path), False)
    runtime = Runtime.open(outcome.bundle, plugins=plugins_of(notes))
    (server,) = runtime.bundle.servers
    assert (server.listed, server.settings) == (True, {"words": ["one"]})
    assert [(policy.glob, policy.timeout_s) for policy in server.tools] == [("own", 90.0)]
    names = {
        agent: [str(tool["name"]) for tool in runtime.session(agent).tools("mcp")] for agent in ("supervisor", "worker")
    }
    assert names["worker"] == ["notes__plain", "notes__own", "notes__one"]  # they cost less than a search
    assert names["supervisor"] == ["notes__plain", "notes__one"]
    assert [str(tool["name"]) for tool in runtime.session("namer").tools("mcp")] == ["notes__own"]


def test_the_owners_time_limit_counts(tmp_path: Path) -> None:
    """A time limit of octoc.toml takes precedence over the plugin's."""
    outcome = _built(tmp_path, plugins_of(Notes()), timeout=5)
    assert outcome.bundle is not None
    (server,) = Runtime.open(outcome.bundle, plugins=plugins_of()).bundle.servers
    assert (server.timeout_s, server.tools) == (5.0, ())


def test_calls_and_a_reload_with_other_settings(tmp_path: Path) -> None:
    """A handler gets its caller; after a reload with other settings, the plugin's new tools are called."""
    notes = Notes()
    first = _built(tmp_path / "first", plugins_of(notes), settings={"words": ["one"]})
    second = _built(tmp_path / "second", plugins_of(notes), settings={"words": ["two"]})
    assert first.bundle is not None
    assert second.bundle is not None

    async def run(first: Path, second: Path) -> list[str]:
        async with Runtime.open(first, plugins=plugins_of(notes)) as runtime:
            texts = [(await runtime.session("worker", user="ann").call("notes__own")).text]
            await runtime.reload(second)
            texts.append((await runtime.session("worker", user="bob").call("notes__two")).text)
            return texts

    assert asyncio.run(run(first.bundle, second.bundle)) == ["own ['one'] for ann", "two ['two'] for bob"]
    assert current_caller().user is None


@pytest.mark.parametrize(
    "plugins, settings, message",
    [
        ((Notes,), {"words": 1}, "builtin server `notes` has no tools: `words` must be a list"),
        ((), {"words": ["one"]}, "builtin server `notes` has settings, and no plugin in use binds tools to it"),
    ],
)
def test_settings_that_nothing_takes(
    tmp_path: Path, plugins: tuple[type, ...], settings: dict[str, Any], message: str
) -> None:
    """Settings that the plugin refuses, or that no plugin gets, are an error at the settings."""
    outcome = _built(tmp_path, plugins_of(*(make() for make in plugins)), settings=settings)
    (found,) = [one for one in outcome.diagnostics if one.rule.code == "OCT797"]
    assert found.message == message
    assert found.span is not None
    assert (found.span.file, found.severity.name) == ("octoc.toml", "ERROR")


def test_a_plugin_that_is_not_installed(tmp_path: Path) -> None:
    """Settings for a missing plugin add no second error to the one on the plugin."""
    server = {"notes": {"builtin": "notes", "settings": {"words": ["one"]}}}
    outcome = WorkspaceBuilder(tmp_path, servers=server, plugins={"use": ["acme-notes"]}).build()
    assert {"OCT720", "OCT797"} & {one.rule.code for one in outcome.diagnostics} == {"OCT720"}


def test_settings_of_another_server(tmp_path: Path) -> None:
    """`settings` of a server that is not builtin are in effect nowhere, and reported."""
    builder = WorkspaceBuilder(tmp_path, servers={"docs": {"settings": {"root": "x"}}}).server("docs", "docs-mcp")
    (found,) = [one for one in builder.build(plugins_of()).diagnostics if one.rule.code == "OCT246"]
    assert found.message == "`settings` of server `docs` are in effect only for a builtin server"
