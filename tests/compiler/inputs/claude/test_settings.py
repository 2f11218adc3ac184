"""Claude Code's settings: permission rules, hooks, and keys that have no effect."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.claude.permissions import Permission, parse, why_skipped
from octoc.diagnostics.fold import folded
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity

SETTINGS = ".claude/settings.json"


def findings(root: Path, values: Any, path: str = SETTINGS) -> tuple[Diagnostic, ...]:
    """Return what a scan of a folder finds that has these settings alone."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(values if isinstance(values, str) else json.dumps(values, indent=1), encoding="utf-8")
    return check_target(CheckTarget(root=root, folder=root), use_cache=False).diagnostics


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    """Return the codes of findings, in order."""
    return [one.rule.code for one in found]


def test_a_folder_with_settings_alone_is_checked(tmp_path: Path) -> None:
    """Settings are found by a scan, and sound ones have no finding."""
    found = findings(tmp_path, {"permissions": {"allow": ["Bash(npm test)"], "deny": ["Read(./.env)"]}})
    assert found == ()
    assert check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).read == {tmp_path / SETTINGS}


@pytest.mark.parametrize(
    "text, tool, specifier",
    [
        ("Bash", "Bash", None),
        ("Bash(*)", "Bash", None),
        ("Bash(npm run:*)", "Bash", "npm run *"),
        ("Bash(echo (a) b)", "Bash", "echo (a) b"),
        ("Workflow(x:y)", "Workflow", "x:y"),
        ("mcp__github__get_issue", "mcp__github__get_issue", None),
        ("Skill(deploy *)", "Skill", "deploy *"),
    ],
)
def test_a_rule_is_a_tool_and_what_it_is_used_for(text: str, tool: str, specifier: str | None) -> None:
    """A `*` alone means every use, and `:*` is a blank and a star."""
    assert parse(text) == Permission(tool, specifier)


@pytest.mark.parametrize(
    "kind, text",
    [
        ("allow", "Graep"),
        ("allow", "bash(ls)"),
        ("allow", "Edit:*"),
        ("allow", "Bash(npm test"),
        ("allow", "mcp__*"),
        ("allow", "mcp__git*"),
        ("allow", "mcp_git_push"),
        ("deny", "mcp_git__push"),
        ("allow", "*"),
        ("allow", "mcp__github(get_issue)"),
        ("allow", "Write(docs/**)"),
        ("deny", "Glob(secrets/**)"),
        ("deny", "Bash(command:rm *)"),
        ("deny", "WebFetch(https://acme.example/*)"),
    ],
)
def test_a_rule_that_claude_code_skips(kind: str, text: str) -> None:
    """An unknown name near a tool's, a broken rule, an open pattern, and what no rule can match are skipped."""
    assert why_skipped(text, kind) is not None


@pytest.mark.parametrize(
    "kind, text",
    [
        ("allow", "Workflow(x:y)"),
        ("allow", "Task(helper)"),
        ("allow", "SomeNewTool"),
        ("allow", "mcp__github__*"),
        ("allow", "mcp__github__get_*"),
        ("allow", "mcp__plugin_acme_docs__search"),
        ("allow", "Write"),
        ("allow", "Write(*)"),
        ("allow", "Bash(command:*)"),
        ("allow", "WebFetch(domain:acme.example)"),
        ("deny", "mcp__*"),
        ("deny", "*"),
        ("ask", "Agent(model:opus)"),
    ],
)
def test_a_rule_that_may_have_an_effect(kind: str, text: str) -> None:
    """Tools of a newer version, servers that may be elsewhere, and patterns where they count are not reported."""
    assert why_skipped(text, kind) is None


@pytest.mark.parametrize(
    "rules, expected",
    [
        ({"allow": ["Bash(npm *)"], "deny": ["Bash"]}, ["allow"]),
        ({"allow": ["Bash(npm:*)"], "ask": ["Bash(npm *)"]}, ["allow"]),
        ({"allow": ["mcp__a__b"], "deny": ["mcp__a"]}, ["allow"]),
        ({"ask": ["Read"], "deny": ["*"]}, ["ask"]),
        ({"allow": ["Bash(npm *)"], "deny": ["Bash(npm publish)"]}, []),
        ({"allow": ["mcp__ab__c"], "deny": ["mcp__a"]}, []),
        ({"deny": ["Bash"], "ask": [], "allow": ["Read"]}, []),
    ],
)
def test_a_rule_that_another_one_decides(tmp_path: Path, rules: Mapping[str, list[str]], expected: list[str]) -> None:
    """`deny` comes before `ask`, and `ask` before `allow`, however narrow a rule is."""
    found = [one for one in findings(tmp_path, {"permissions": rules}) if one.rule.code == "OCT728"]
    assert [one.message.split("in `")[1].split("`")[0] for one in found] == expected


def test_rules_of_one_mistake_are_one_finding(tmp_path: Path) -> None:
    """Findings of one cause in one file fold into one with a count, at the first rule's line."""
    rules = {"allow": [f"Write(docs/{name}/**)" for name in "abc"]}
    (found,) = folded(findings(tmp_path, {"permissions": rules}))
    assert "(and 2 more)" in found.message
    assert found.span is not None
    assert found.span.line == 4


def test_a_rule_for_write_beside_the_same_for_edit_is_no_finding(tmp_path: Path) -> None:
    """Nothing is lost where the list has the rule that counts."""
    assert findings(tmp_path, {"permissions": {"allow": ["Write(docs/**)", "Edit(docs/**)"]}}) == ()


def test_an_event_that_is_none_has_a_fix(tmp_path: Path) -> None:
    """A slip of an event is reported at its key; hooks below it are not looked at."""
    (found,) = findings(tmp_path, {"hooks": {"PostTooluse": [{"command": "x"}]}})
    assert (found.rule.code, found.fix is not None) == ("OCT729", True)
    assert found.help == "did you mean `PostToolUse`?"


@pytest.mark.parametrize(
    "hooks, code",
    [
        ({"Stop": [{"type": "command", "command": "x"}]}, "OCT202"),
        ({"Stop": {"hooks": []}}, "OCT203"),
        ({"Stop": [{"hooks": [{"type": "comand", "command": "x"}]}]}, "OCT204"),
        ({"Stop": [{"hooks": [{"type": "prompt"}]}]}, "OCT202"),
        ({"PreToolUse": [{"matcher": "Edit|Wirte", "hooks": []}]}, "OCT729"),
    ],
)
def test_a_hook_that_is_not_one(tmp_path: Path, hooks: Any, code: str) -> None:
    """A hook without its list, of an unknown type or without its field is reported."""
    assert codes(findings(tmp_path, {"hooks": hooks})) == [code]


@pytest.mark.parametrize(
    "command, is_missing",
    [
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/gone.sh', True),
        ("bash ${CLAUDE_PROJECT_DIR}/.claude/hooks/gone.sh --fast", True),
        ("python3 .claude/hooks/gone.py", True),
        (".claude/hooks/there.sh", False),
        ("[ -x .claude/hooks/gone.sh ] && .claude/hooks/gone.sh", False),
        (".claude/hooks/gone.sh || true", False),
        ("~/.claude/hooks/gone.sh", False),
        ("scripts/gone.sh", False),
        ('"$CLAUDE_PROJECT_DIR"/dist/hook.js', False),
        ("tee $CLAUDE_PROJECT_DIR/.claude/log.txt", False),
        ("echo 'unclosed", False),
    ],
)
def test_a_script_of_a_hook_that_is_not_there(tmp_path: Path, command: str, is_missing: bool) -> None:
    """A script in the project is looked for, unless the command expects that it may be missing."""
    script = tmp_path / ".claude/hooks/there.sh"
    script.parent.mkdir(parents=True)
    script.touch()
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    assert codes(findings(tmp_path, {"hooks": hooks})) == ["OCT731"] * is_missing


@pytest.mark.parametrize(
    "path, values, code",
    [
        (SETTINGS, {"mcpServers": {"a": {}}}, "OCT733"),
        (SETTINGS, {"mcpServers": {}}, None),
        (SETTINGS, {"allowManagedMcpServersOnly": False}, "OCT733"),
        (SETTINGS, {"allowManagedHooksOnly": True}, "OCT733"),
        ("managed-settings.json", {"allowManagedHooksOnly": True}, None),
        ("managed-settings.d/10-acme.json", {"permisions": {}}, "OCT208"),
        (SETTINGS, {"pluginConfigs": {"a": 1}}, "OCT733"),
        (SETTINGS, {"skipDangerousModePermissionPrompt": True}, "OCT733"),
        (".claude/settings.local.json", {"skipDangerousModePermissionPrompt": True}, None),
        (SETTINGS, {"permissions": {"defaultMode": "auto"}}, "OCT733"),
        (SETTINGS, {"permissions": {"defaultMode": "bypassPermissions"}}, "OCT732"),
        (".claude/settings.local.json", {"permissions": {"defaultMode": "bypassPermissions"}}, None),
        ("dotfiles/.claude/settings.json", {"permissions": {"defaultMode": "bypassPermissions"}}, None),
        (SETTINGS, {"permissions": {"defaultMode": "allowEdits"}}, "OCT204"),
        (SETTINGS, {"permisions": {}}, "OCT208"),
        (SETTINGS, {"permissions": {"alow": []}}, "OCT208"),
        (SETTINGS, {"somethingNew": 1}, None),
        (SETTINGS, {"permissions": {"allow": "Bash"}}, "OCT203"),
        (SETTINGS, {"env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}, "OCT340"),
        (SETTINGS, {"env": {"AWS_KEY_ID": f"AKIA{'QYLPMN5HFIQR7XYA'}"}}, "OCT725"),
        (SETTINGS, {"env": {"GITHUB_TOKEN": "${GH}"}}, "OCT440"),
        (SETTINGS, '{"permissions": {}, // mine\n}', "OCT108"),
    ],
)
def test_a_key_of_settings(tmp_path: Path, path: str, values: Any, code: str | None) -> None:
    """Keys are judged by whose settings the file has; an unknown key is one of a newer version."""
    found = {one.rule.code for one in findings(tmp_path, values, path)}
    assert found == ({code} if code else set())


def test_a_second_check_sees_that_a_script_came(tmp_path: Path) -> None:
    """No check that looks for other files is remembered."""
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": ".claude/gone.sh"}]}]}
    assert codes(findings(tmp_path, {"hooks": hooks})) == ["OCT731"]
    target = CheckTarget(root=tmp_path, folder=tmp_path)
    check_target(target)
    (tmp_path / ".claude/gone.sh").touch()
    assert check_target(target).diagnostics == ()


def test_plugins_of_the_project_s_marketplace(tmp_path: Path) -> None:
    """A plugin that the repository's own marketplace lacks is reported, one of another marketplace is not."""
    marketplace = tmp_path / ".claude-plugin/marketplace.json"
    marketplace.parent.mkdir()
    entry = {"name": "review", "source": {"source": "github", "repo": "acme/review"}}
    marketplace.write_text(json.dumps({"name": "team", "owner": {"name": "Acme"}, "plugins": [entry]}))
    enabled = {"review@team": True, "reviev@team": True, "reviev@other": True}
    found = [one for one in findings(tmp_path, {"enabledPlugins": enabled}) if one.rule.code == "OCT777"]
    assert [one.help for one in found] == ["did you mean `review@team`?"]
    assert found[0].severity is Severity.WARNING
