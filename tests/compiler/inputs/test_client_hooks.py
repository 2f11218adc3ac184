"""Hooks of clients other than Claude Code: events, entries that run nothing, and scripts that are not there."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity
from tests.compiler.dialects import findings

AUGMENT, CODEX, COPILOT = ".augment/settings.json", ".codex/hooks.json", ".github/hooks/log.json"
CURSOR, GEMINI, WINDSURF = ".cursor/hooks.json", ".gemini/settings.json", ".windsurf/hooks.json"
RUN = {"type": "command", "command": "ledger add"}


def codes(root: Path, path: str, values: Any) -> list[str]:
    """Return the rule of each error and warning of a file of hooks."""
    return [code for code, *_ in findings(root, path, json.dumps(values))]


@pytest.mark.parametrize(
    "path, own, slip, near",
    [
        (WINDSURF, "pre_user_prompt", "post_edit_code", "post_write_code"),
        (WINDSURF, "pre_user_prompt", "post_run_cmd", "post_run_command"),
        (CURSOR, "stop", "beforePromptSubmit", "beforeSubmitPrompt"),
        (COPILOT, "agentStop", "sessionFinished", "sessionEnd"),
        (COPILOT, "SessionStart", "UserPromptSubmited", "UserPromptSubmitted"),
        (CODEX, "Stop", "PromptSubmitted", "UserPromptSubmit"),
        (f"home/{CODEX}", "Stop", "AfterTool", "PostToolUse"),
        (".qwen/settings.json", "Stop", "PreToolUsage", "PreToolUse"),
        ("dot_cursor/hooks.json", "stop", "afterFileEdits", "afterFileEdit"),
    ],
)
def test_an_event_that_a_client_lacks(path: str, own: str, slip: str, near: str, tmp_path: Path) -> None:
    """Hooks under a slip of an event never run; the finding is at the event and names the one that is meant."""
    entry = {"hooks": [RUN]} if path.startswith((".codex", ".qwen", "home")) else RUN
    text = json.dumps({"version": 1, "hooks": {own: [entry], slip: [entry]}}, indent=0)
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    (found,) = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).diagnostics
    assert (found.rule.code, found.severity, found.help) == ("OCT729", Severity.WARNING, f"did you mean `{near}`?")
    assert found.span is not None
    assert f'"{slip}"' in text.splitlines()[found.span.line - 1]


@pytest.mark.parametrize(
    "path, hooks",
    [
        (WINDSURF, {"post_setup_worktree": [{"powershell": "ledger add"}]}),
        (CURSOR, {"workspaceOpen": [{"command": "ledger add"}], "stop": [{"type": "prompt", "prompt": "Done?"}]}),
        (COPILOT, {"sessionStart": [{"bash": "ledger add"}], "Stop": [{"hooks": [RUN]}]}),
        (COPILOT, {"sessionEnd": [{"type": "http", "url": "https://ledger.example"}]}),
        (CODEX, {"Interrupt": [{"hooks": [RUN]}], "_note": [{"command": "x"}]}),
        (GEMINI, {"enabled": True, "AfterTool": [{"matcher": "*", "hooks": [RUN]}]}),
        (CODEX, {"Stop": [{"hooks": [{"type": "agent"}]}]}),
    ],
)
def test_hooks_that_run(path: str, hooks: dict[str, Any], tmp_path: Path) -> None:
    """Each client has its own events, and its own keys for what an entry runs."""
    assert codes(tmp_path, path, {"version": 1, "hooks": hooks}) == []


@pytest.mark.parametrize(
    "path, hooks",
    [
        (AUGMENT, {"Stop": [{"hooks": [{"type": "command"}]}]}),
        (GEMINI, {"AfterTool": [{"hooks": [{"type": "command", "name": "log"}]}]}),
        (GEMINI, {"AfterTool": [{"matcher": "replace", "command": "ledger add"}]}),
        (CODEX, {"Stop": [{"hooks": [{"type": "command", "cmd": "ledger add"}]}]}),
        (CURSOR, {"stop": [{"timeout": 5}]}),
        (WINDSURF, {"post_run_command": [{"show_output": True}]}),
        (COPILOT, {"sessionEnd": [{"type": "command", "timeoutSec": 5}]}),
    ],
)
def test_an_entry_that_runs_nothing(path: str, hooks: dict[str, Any], tmp_path: Path) -> None:
    """An entry without a command, and a command outside of a group where the client reads groups, never run."""
    assert codes(tmp_path, path, {"version": 1, "hooks": hooks}) == ["OCT202"]


def test_a_file_of_hooks_of_another_program(tmp_path: Path) -> None:
    """A file in a client's folder with none of its events, and without its version, is another program's."""
    assert codes(tmp_path, COPILOT, {"hooks": {"pre-commit": [{"command": "lint"}]}}) == []


@pytest.mark.parametrize(
    "manifests, event, rules",
    [
        ([".cursor-plugin"], "beforePromptSubmit", ["OCT729"]),
        ([".codex-plugin"], "UserPromptSubmited", ["OCT729"]),
        ([".codex-plugin"], "Notification", []),
        (["gemini-extension.json"], "AfterTools", ["OCT729"]),
        (["gemini-extension.json"], "PreToolUse", []),
        ([".cursor-plugin", ".claude-plugin"], "afterFileEdit", []),
    ],
)
def test_the_hooks_of_a_plugin(manifests: list[str], event: str, rules: list[str], tmp_path: Path) -> None:
    """A plugin's hooks have the events of the client whose manifest is beside them, and those of Claude Code."""
    for name in manifests:
        manifest = tmp_path / (name if name.endswith(".json") else f"{name}/plugin.json")
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text('{"name": "ledger", "version": "1.0.0"}', encoding="utf-8")
    own = "stop" if ".cursor-plugin" in manifests else "Stop"
    hooks = {one: [{"hooks": [RUN]}] for one in (own, event)}
    assert codes(tmp_path, "hooks/hooks.json", {"hooks": hooks}) == rules


@pytest.mark.parametrize(
    "path, entry, is_missing",
    [
        (GEMINI, {"command": "python3 .gemini/hooks/gone.py"}, True),
        (GEMINI, {"command": "$GEMINI_PROJECT_DIR/.gemini/gone.sh"}, True),
        (CODEX, {"command": "bash tools/gone.sh"}, True),
        (CODEX, {"command": "bash tools/there.sh"}, False),
        (CODEX, {"command": 'bash "$(git rev-parse --show-toplevel)/.codex/gone.sh"'}, True),
        (CODEX, {"command": 'bash "$(git rev-parse --show-toplevel)/tools/there.sh"'}, False),
        (f"web/{CODEX}", {"command": 'bash "$(git rev-parse --show-toplevel)/tools/there.sh"'}, False),
        (CODEX, {"command": "bash tools/gone.sh || true"}, False),
        (CODEX, {"command": "bash elsewhere/gone.sh"}, False),
        (CODEX, {"command": "bash dist/gone.js"}, False),
        (CODEX, {"command": "~/.codex/gone.sh"}, False),
        (COPILOT, {"bash": "./tools/gone.sh", "cwd": "."}, True),
        (COPILOT, {"bash": "./tools/there.sh", "powershell": "./tools/gone.ps1"}, True),
        (COPILOT, {"bash": "./deep/gone.sh", "cwd": "tools"}, True),
        (COPILOT, {"bash": "./deep/there.sh", "cwd": "tools"}, False),
        (WINDSURF, {"command": "node tools/gone.js", "working_directory": "$ROOT"}, False),
        (CURSOR, {"command": ".cursor/hooks/gone.sh"}, True),
        (CURSOR, {"command": "tools/private/gone.sh"}, False),
        (f"dotfiles/{CODEX}", {"command": "bash .codex/gone.sh"}, False),
        ("dot_codex/hooks.json", {"command": "bash tools/gone.sh"}, False),
    ],
)
def test_a_script_that_a_hook_runs(path: str, entry: dict[str, str], is_missing: bool, tmp_path: Path) -> None:
    """A script in the project is looked for from where the client runs it; ignored, made and guarded ones are not."""
    for name in ("tools/there.sh", "tools/deep/there.sh", "tools/private/x.sh", "dist/x.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("tools/private/\n", encoding="utf-8")
    event = {COPILOT: "sessionEnd", WINDSURF: "post_run_command", CURSOR: "stop", GEMINI: "AfterTool"}.get(path, "Stop")
    listed = {"type": "command", **entry}
    hooks = {event: [listed if path in (COPILOT, WINDSURF, CURSOR) else {"hooks": [listed]}]}
    assert codes(tmp_path, path, {"version": 1, "hooks": hooks}) == ["OCT731"] * is_missing
