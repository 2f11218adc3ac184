"""Names in permission rules and agents' tools: what a repository tells, and what only the user's files tell."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.claude.user import read_user_scope
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity

SERVER = {"mcpServers": {"github": {"command": "github-mcp"}}}
SNAPSHOT = {
    "server": "github",
    "definition": "sha256:0",
    "tools": [{"name": "get_issue", "inputSchema": {"type": "object"}}],
}
JUDGED = ("OCT301", "OCT321", "OCT728")
AGENT = "---\nname: helper\ndescription: Helps\ntools: mcp__notes__add, mcp__here__x\n---\nHelp.\n"


def write(root: Path, files: Mapping[str, Any]) -> None:
    """Write files, values as JSON."""
    for path, values in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")


def findings(root: Path, home: Path | None = None) -> list[tuple[str, str]]:
    """Return code and message of the warnings and errors in a folder."""
    found = check_target(CheckTarget(root=root, folder=root), use_cache=False, home=home).diagnostics
    shown: list[Diagnostic] = [one for one in found if one.severity > Severity.INFO]
    return [(one.rule.code, one.message) for one in shown if one.rule.code in JUDGED]


def settings(*rules: str) -> dict[str, Any]:
    """Return settings that allow `rules`."""
    return {".claude/settings.json": {"permissions": {"allow": list(rules)}}}


@pytest.mark.parametrize(
    "rule, is_unknown",
    [
        ("mcp__github__get_isue", True),
        ("mcp__github__get_issue", False),
        ("mcp__github__get_*", False),
        ("mcp__github", False),
        ("mcp__elsewhere__x", False),
    ],
)
def test_a_rule_on_a_tool_that_a_recorded_server_lacks(tmp_path: Path, rule: str, is_unknown: bool) -> None:
    """Recorded tools tell; a server that may be elsewhere is silence."""
    write(tmp_path, {".mcp.json": SERVER, "snapshots/github.json": SNAPSHOT, **settings(rule)})
    assert [code for code, _ in findings(tmp_path)] == ["OCT321"] * is_unknown


@pytest.mark.parametrize("rule, is_slip", [("Agent(helpr)", True), ("Agent(helper)", False), ("Agent(Explore)", False)])
def test_a_rule_on_a_slip_of_an_agent(tmp_path: Path, rule: str, is_slip: bool) -> None:
    """A name near that of an agent of the project is reported; any other agent may be elsewhere."""
    agent = "---\nname: helper\ndescription: Helps\n---\nHelp.\n"
    write(tmp_path, {".claude/agents/helper.md": agent, **settings(rule)})
    assert [code for code, _ in findings(tmp_path)] == ["OCT728"] * is_slip


def test_the_users_files_tell_that_a_server_does_not_exist(tmp_path: Path) -> None:
    """With the user's files an unknown server is reported; servers of plugins, connectors and the client are not."""
    project, home = tmp_path / "project", tmp_path / "home"
    rules = ("notes__add", "here__x", "gone__x", "plugin_acme_docs__x", "claude_ai_Linear__x", "ide__getDiagnostics")
    write(project, settings(*(f"mcp__{rule}" for rule in rules)) | {".claude/agents/helper.md": AGENT})
    mine = {"here": {"command": "x"}}
    write(home, {".claude.json": {"mcpServers": {"notes": {}}, "projects": {str(project): {"mcpServers": mine}}}})
    assert findings(project) == []
    assert findings(project, home) == [
        ("OCT301", "`mcp__gone__x` names server `gone`, which neither this project nor the user defines")
    ]
    write(home, {".claude.json": {"mcpServers": {}}})
    assert len(findings(project, home)) == 5


def test_files_of_the_user_that_cannot_be_read_tell_nothing(tmp_path: Path) -> None:
    """A broken file may define any server."""
    write(tmp_path, settings("mcp__gone__x") | {"home/.claude.json": "{"})
    assert findings(tmp_path, tmp_path / "home") == []


def test_agents_and_skills_of_the_user_are_names(tmp_path: Path) -> None:
    """An agent is called as its front matter or its file says, a skill as its folder."""
    write(tmp_path, {".claude/agents/a/one.md": "---\nname: first\n---\n", ".claude/skills/deploy/SKILL.md": ""})
    scope = read_user_scope(tmp_path, tmp_path)
    assert sorted(scope.agents | scope.skills) == ["deploy", "first", "one"]
    (tmp_path / "project").mkdir()
    write(tmp_path / "project", settings("Skill(deploi)", "Skill(deply)", "Agent(frist)"))
    assert [code for code, _ in findings(tmp_path / "project", tmp_path)] == ["OCT728", "OCT728"]
    assert findings(tmp_path / "project") == []
