"""Which agents get their tools directly: those whose tools cost fewer tokens than octoc's own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_to_scope
from octoc.compiler.workspace.load import load_workspace
from octoc.compiler.workspace.token_report import token_report
from octoc.plugin.manager import Plugins, plugins_of
from octoc.results import ContentPart, ToolResult
from octoc.runtime import Runtime, Session, tool_text
from octoc.testing import WorkspaceBuilder
from octoc.tokens import APPROXIMATE

READ: dict[str, Any] = {
    "name": "read",
    "description": "Read a page.",
    "inputSchema": {"type": "object", "properties": {"page": {"type": "string"}}, "required": ["page"]},
}
LIST: dict[str, Any] = {"name": "list", "description": "List all pages.", "inputSchema": {"type": "object"}}


def _wide(count: int) -> list[dict[str, Any]]:
    return [{**LIST, "name": f"list_{number}"} for number in range(count)]


def _workspace(root: Path, tools: list[dict[str, Any]], **search: Any) -> WorkspaceBuilder:
    workspace = WorkspaceBuilder(root, search=search) if search else WorkspaceBuilder(root)
    return workspace.server("docs", "none").snapshot("docs", tools)


def _is_bound(workspace: WorkspaceBuilder, agent: str = "supervisor") -> bool:
    return _scoped(workspace).scoped.registries[agent].bound


def _scoped(workspace: WorkspaceBuilder) -> Build:
    loaded = load_workspace(workspace.write(), cache=Cache(None), plugins=Plugins())
    assert loaded.settings is not None
    return run_to_scope(loaded.settings, loaded.context)


def _session(workspace: WorkspaceBuilder) -> Session:
    bundle = workspace.build().bundle
    assert bundle is not None
    return Runtime.open(bundle, plugins=plugins_of()).session()


def _names(session: Session) -> list[str]:
    return [tool["name"] for tool in session.tools()]


def _cost(tools: list[dict[str, Any]]) -> int:
    return sum(APPROXIMATE.count(tool_text(tool)) for tool in tools)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 12, 16, 20, 30, 60])
def test_no_agent_pays_more_than_for_all_its_tools(tmp_path: Path, count: int) -> None:
    """Whatever the number of tools, the block and the prompt cost at most what all tools cost."""
    session = _session(_workspace(tmp_path, _wide(count)))
    wires = [session.state.loaded.catalog.shared_wire(index) for index in session.state.tools.known()]
    aliases = [session.state.tools.alias(index) for index in session.state.tools.known()]
    everything = [
        {"name": alias, "description": wire["description"], "input_schema": wire["inputSchema"]}
        for alias, wire in zip(aliases, wires, strict=True)
    ]
    prompt = session.servers_prompt
    assert _cost(session.tools()) + (APPROXIMATE.count(prompt) if prompt else 0) <= _cost(everything)


def test_the_decision_turns_where_the_costs_cross(tmp_path: Path) -> None:
    """Few tools are bound, many are searched for, and the number of tools decides once."""
    decided = [_is_bound(_workspace(tmp_path / str(count), _wide(count))) for count in range(0, 40, 4)]
    assert decided[0]
    assert not decided[-1]
    assert decided == sorted(decided, reverse=True)


def test_a_bound_agent_sees_its_tools_alone(tmp_path: Path) -> None:
    """Its block has no tool of octoc's, and its prompt no section on servers; scope and names stay."""
    session = _session(_workspace(tmp_path, [READ, LIST]))
    assert _names(session) == ["docs__read", "docs__list"]
    assert session.servers_prompt == ""
    assert [hit.direct for hit in session.search("read a page")] == [True, True]


def test_a_capability_of_a_bound_agent_still_routes(tmp_path: Path) -> None:
    """It is not shown to the model, as it would bring nothing; the host may activate it as before."""
    workspace = _workspace(tmp_path, [READ])
    workspace.capability("tickets", ["file a ticket"], server={"name": "tracker", "command": "none"})
    session = _session(workspace.snapshot("tracker", [LIST]))
    before = _names(session)
    assert before == ["docs__read", "tracker__list"]
    assert "tickets" in session.state.tools.switchable
    outcome = asyncio.run(session.call("capability", {"action": "list"}))
    assert outcome.ok
    assert "tickets" in outcome.text


def test_names_from_an_older_prompt_are_answered(tmp_path: Path) -> None:
    """A model that still writes `find_tools` learns that the tool is called by its name."""
    session = _session(_workspace(tmp_path, [READ]))
    outcome = asyncio.run(session.call("find_tools", {"query": "read a page"}))
    assert outcome.ok
    assert "docs__read" in outcome.text
    missing = asyncio.run(session.call("call_mcp_tool", {"tool_name": "docs__wipe", "arguments": {}}))
    assert not missing.ok
    assert "find_tools" not in missing.text


def test_the_reader_of_results_joins_at_the_end(tmp_path: Path) -> None:
    """It is there once a result was stored, after all other tools, so that the block keeps its beginning."""
    from octoc.runtime.results.fit import fit

    session = _session(_workspace(tmp_path, [READ, LIST]))
    before = [json.dumps(tool) for tool in session.tools()]
    cut = ToolResult(content=(ContentPart(type="text", text="line\n" * 20_000),))
    asyncio.run(fit(session.state, cut, session.state.loaded.catalog[0].id))
    after = [json.dumps(tool) for tool in session.tools()]
    assert after[: len(before)] == before
    assert _names(session)[len(before) :] == ["read_result"]


@pytest.mark.parametrize("search", [{"rank": "octo"}, {"bind": "never"}])
def test_settings_keep_the_search(tmp_path: Path, search: dict[str, str]) -> None:
    """Octo's rule has Octo's tools, and a workspace may always search."""
    assert _is_bound(_workspace(tmp_path / "usual", [READ]))
    assert not _is_bound(_workspace(tmp_path / "kept", [READ], **search))


def test_an_unknown_cost_keeps_the_search(tmp_path: Path) -> None:
    """A server without a snapshot has tools of unknown cost."""
    assert not _is_bound(_workspace(tmp_path, [READ]).server("late", "none"))


def test_what_needs_a_message_keeps_the_search(tmp_path: Path) -> None:
    """A gateway learns of messages by `find_tools`, so an agent with a skill that messages use keeps it."""
    bare = _workspace(tmp_path / "bare", [READ]).skill("manual", description="How pages are read.")
    assert _is_bound(bare)
    ruled = _workspace(tmp_path / "ruled", [READ])
    ruled.skill("manual", description="How pages are read.", rules=["content(page)"])
    assert not _is_bound(ruled)


def test_a_refused_schema_keeps_the_search(tmp_path: Path) -> None:
    """A provider refuses a request for one tool in it, so a tool with such a schema stays out of the prompt."""
    either = {"name": "either", "inputSchema": {"type": "object", "anyOf": [{"required": ["page"]}]}}
    assert not _is_bound(_workspace(tmp_path, [READ, either]))


def test_dependencies_keep_the_search(tmp_path: Path) -> None:
    """The activation of a capability prepares its dependencies, and the model or a search asks for it."""
    workspace = _workspace(tmp_path / "without", [READ])
    workspace.capability("tickets", ["file a ticket"], server={"name": "tracker", "command": "none"})
    assert _is_bound(workspace.snapshot("tracker", [LIST]))
    needing = _workspace(tmp_path / "with", [READ])
    needing.capability("tickets", ["file a ticket"], server={"name": "tracker", "command": "none"})
    provider = "taps/local/capabilities/tickets/default.toml"
    text = (tmp_path / "without" / provider).read_text() + '\n[deps]\nrequire = ["jq"]\n'
    needing.snapshot("tracker", [LIST]).file("taps/local/deps/jq.sh", "# check: command -v jq\n").file(provider, text)
    assert not _is_bound(needing)


def test_the_report_has_the_bound_tools(tmp_path: Path) -> None:
    """The token report of a build shows the tools as direct, with none of octoc's own beside them."""
    (agent,) = token_report(attrs.evolve(_scoped(_workspace(tmp_path, [READ, LIST])), prompts={}), Plugins()).agents
    assert (agent.direct_tools, agent.deferred_tools) == (2, 0)
