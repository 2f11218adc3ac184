"""Names of servers in rules, hooks and lists of tools that are slips of a server of the project."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity

SERVERS = {"mcpServers": {"pull-requests": {"command": "pr-mcp"}, "specs": {"command": "specs-mcp"}}}
WRIGHT = {"mcpServers": {"cartwright-test": {"command": "c-mcp"}, "constable": {"command": "d-mcp"}}}


def findings(root: Path, files: Mapping[str, Any]) -> list[Diagnostic]:
    """Return the findings of OCT301 in a folder with `files`, whose values are JSON."""
    for path, values in {".mcp.json": SERVERS, **files}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
    found = check_target(CheckTarget(root=root, folder=root), use_cache=False).diagnostics
    return [one for one in found if one.rule.code == "OCT301"]


@pytest.mark.parametrize(
    "name, is_slip",
    [
        ("pull-request", True),
        ("pull-reqeusts", True),
        ("sepcs", True),
        ("pull-requests", False),
        ("specs", False),
        ("pull-requests-2", False),
        ("specs_x", False),
        ("plugin_pull-request", False),
        ("elsewhere", False),
    ],
)
def test_a_rule_on_a_server_of_a_near_name(tmp_path: Path, name: str, is_slip: bool) -> None:
    """A rule on a slip of one of the project's servers is a warning; any other name may be a server from elsewhere."""
    rules = {".claude/settings.json": {"permissions": {"deny": [f"mcp__{name}__merge"]}}}
    assert [one.severity for one in findings(tmp_path, rules)] == [Severity.WARNING] * is_slip


@pytest.mark.parametrize(
    "name, is_slip", [("cartwrite-test", True), ("cartwheels-test", False), ("constant", False), ("constables2", False)]
)
def test_a_name_that_ends_otherwise(tmp_path: Path, name: str, is_slip: bool) -> None:
    """A long word that differs from that of a server in its last letters alone is a slip, too."""
    rules = {".mcp.json": WRIGHT, ".claude/settings.json": {"permissions": {"deny": [f"mcp__{name}__merge"]}}}
    assert [one.severity for one in findings(tmp_path, rules)] == [Severity.WARNING] * is_slip


@pytest.mark.parametrize(
    "names, count",
    [
        (("store-index",), 1),
        (("store-indexed2",), 0),
        (("searches",), 0),
        (("search", "searches"), 1),
        (("search", "searchlight"), 0),
    ],
)
def test_a_name_that_is_cut_short(tmp_path: Path, names: tuple[str, ...], count: int) -> None:
    """A name of several words without a letter or two is a slip; one of one word is, beside the name that it means."""
    servers = {"mcpServers": {"store-indexed": {"command": "s-mcp"}, "search": {"command": "f-mcp"}}}
    rules = {"permissions": {"allow": [f"mcp__{name}__find" for name in names]}}
    found = findings(tmp_path, {".mcp.json": servers, ".claude/settings.json": rules})
    assert [one.severity for one in found] == [Severity.WARNING] * count


_AGENT = "---\nname: ship\ndescription: d\n{}\n---\nShip.\n"


@pytest.mark.parametrize(
    "path, content",
    [
        (".claude/settings.json", {"enabledMcpjsonServers": ["pull-request"]}),
        (".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "mcp__pull-request__.*", "hooks": []}]}}),
        (".claude/skills/ship/SKILL.md", _AGENT.format("allowed-tools: Read, mcp__pull-request__merge")),
        (".claude/agents/ship.md", _AGENT.format("disallowedTools: mcp__pull-request__merge")),
        (".kiro/agents/ship.json", {"name": "ship", "allowedTools": ["read", "@pull-request/merge"]}),
        (".github/agents/ship.agent.md", _AGENT.format("tools: ['pull-request/*']")),
    ],
)
def test_each_list_of_tools_that_names_servers(tmp_path: Path, path: str, content: Any) -> None:
    """Settings, hooks, skills and agents of every client name servers, each in its own form."""
    (found,) = findings(tmp_path, {path: content})
    assert (found.span and found.span.file, found.severity) == (path, Severity.WARNING)


@pytest.mark.parametrize("name", ["Specs", "pull_requests", "pullrequests"])
def test_another_case_is_information(tmp_path: Path, name: str) -> None:
    """A connector or a user's server may have a name of the project in another case or with other separators."""
    (found,) = findings(tmp_path, {".claude/settings.json": {"permissions": {"allow": [f"mcp__{name}__read"]}}})
    assert found.severity == Severity.INFO


def test_servers_of_another_clients_file(tmp_path: Path) -> None:
    """A server that any file of the project defines is known, and so is a slip of it."""
    files = {
        ".kiro/settings/mcp.json": {"mcpServers": {"team-notes": {"command": "notes-mcp"}, "spec": {"command": "x"}}},
        ".kiro/agents/ship.json": {"name": "ship", "allowedTools": ["@team-note", "@team-notes", "@spec"]},
    }
    assert [one.message.split("`")[1] for one in findings(tmp_path, files)] == ["@team-note"]


def test_a_server_with_a_mistake_is_still_meant(tmp_path: Path) -> None:
    """A rule on a slip of a server whose definition has a mistake is a warning, too."""
    servers = {"mcpServers": {"calendar": {"command": "c-mcp", "env": ["A=b"]}}}
    rules = {".mcp.json": servers, ".claude/settings.json": {"permissions": {"deny": ["mcp__calednar__delete"]}}}
    assert [one.severity for one in findings(tmp_path, rules)] == [Severity.WARNING]


@pytest.mark.parametrize("name, is_slip", [("acme-tols", True), ("acme-tools", False), ("other", False)])
def test_a_server_of_a_plugin_of_the_repository(tmp_path: Path, name: str, is_slip: bool) -> None:
    """A rule names a plugin's server with the plugin, and a slip of one that is here is a warning."""
    files = {
        "plugins/acme/.claude-plugin/plugin.json": {"name": "acme-tools"},
        "plugins/acme/.mcp.json": {"mcpServers": {"mcp": {"command": "acme-mcp"}}},
        ".claude/settings.json": {"permissions": {"allow": [f"mcp__plugin_{name}_mcp__list"]}},
    }
    assert [one.severity for one in findings(tmp_path, files)] == [Severity.WARNING] * is_slip


def test_a_command_of_a_plugin(tmp_path: Path) -> None:
    """Commands of a plugin are read for the servers that their tools name."""
    files = {
        "plugins/acme/.claude-plugin/plugin.json": {"name": "acme"},
        "plugins/acme/commands/ship.md": _AGENT.format("allowed-tools: mcp__pull-reqeusts__merge"),
    }
    (found,) = findings(tmp_path, files)
    assert found.span is not None
    assert found.span.file == "plugins/acme/commands/ship.md"
