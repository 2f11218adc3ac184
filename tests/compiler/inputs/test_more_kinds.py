"""Manifests of MCP bundles, hooks of plugins, and files beside a client's servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.project import own_server_file
from octoc.compiler.workspace.init import find_inputs
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import Plugins

BUNDLE: dict[str, Any] = {
    "manifest_version": "0.3",
    "name": "notes",
    "version": "1.2.0",
    "description": "Reads and writes notes.",
    "author": {"name": "Acme"},
    "server": {
        "type": "node",
        "entry_point": "server/index.js",
        "mcp_config": {
            "command": "node",
            "args": ["${__dirname}/server/index.js"],
            "env": {"KEY": "${user_config.api_key}"},
        },
    },
    "user_config": {"api_key": {"type": "string", "title": "Key", "description": "The key.", "sensitive": True}},
}


def findings(root: Path, path: str, text: str) -> tuple[Diagnostic, ...]:
    """Return what a scan of a folder finds that has this file."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    target = CheckTarget(root=root, folder=root)
    return check_target(target, plugins=Plugins(), use_cache=False).diagnostics


def reported(root: Path, path: str, values: Any) -> list[tuple[str, str]]:
    """Return code and message of each finding above information."""
    found = findings(root, path, values if isinstance(values, str) else json.dumps(values))
    return [(one.rule.code, one.message) for one in found if one.severity > Severity.INFO]


@pytest.mark.parametrize(
    "change, expected",
    [
        ({}, []),
        ({"manifest_version": "9.9", "categories": []}, []),
        ({"manifest_version": 3, "server": {}}, []),
        ({"categories": []}, [("OCT776", "`mcpb pack` refuses a manifest with `categories`")]),
        (
            {"tools": [{"name": "a", "inputSchema": {}}], "author": {"name": "A", "mail": "a"}},
            [("OCT776", "`mcpb pack` refuses a manifest with `author.mail`, `tools[0].inputSchema`")],
        ),
        (
            {"user_config": {"apikey": BUNDLE["user_config"]["api_key"]}},
            [
                (
                    "OCT777",
                    "`server.mcp_config.env.KEY` refers to option `api_key`, which `user_config` does not have",
                )
            ],
        ),
        (
            {
                "server": {
                    **BUNDLE["server"],
                    "mcp_config": {"command": "node", "args": ["${HOME}/a"], "env": {"KEY": "${OPENAI_API_KEY}"}},
                }
            },
            [
                (
                    "OCT440",
                    "`server.mcp_config.env.KEY` has `${OPENAI_API_KEY}`, which clients of bundles pass on as text",
                )
            ],
        ),
        (
            {"server": {**BUNDLE["server"], "type": "deno"}},
            [("OCT204", "`deno` is not a `type` that octoc knows: expected `python`, `node`, `binary` or `uv`")],
        ),
    ],
)
def test_the_manifest_of_a_bundle(tmp_path: Path, change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """Keys that `mcpb` refuses and options that do not exist are reported; other versions and extensions are not."""
    assert reported(tmp_path, "mcpb/manifest.json", {**BUNDLE, **change}) == expected


def hooks(event: str, command: str, **more: Any) -> dict[str, Any]:
    """Return a file of hooks with one hook."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}, **more}


@pytest.mark.parametrize(
    "values, codes",
    [
        (hooks("Stop", "sh ${CLAUDE_PLUGIN_ROOT}/there.sh"), []),
        (hooks("Stop", "sh ${CLAUDE_PLUGIN_ROOT}/gone.sh"), ["OCT731"]),
        (hooks("Stop", "sh $CLAUDE_PROJECT_DIR/.claude/gone.sh"), []),
        (hooks("Stoop", "sh a.sh"), ["OCT729"]),
        ({"description": "none"}, ["OCT202"]),
        (hooks("afterFileEdit", "sh a.sh", version=1), []),
    ],
)
def test_hooks_of_a_plugin(tmp_path: Path, values: dict[str, Any], codes: list[str]) -> None:
    """A plugin's hooks are checked; a script of the project that uses the plugin may be anywhere."""
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin/plugin.json").write_text('{"name": "acme"}', encoding="utf-8")
    (tmp_path / "there.sh").touch()
    assert [code for code, _ in reported(tmp_path, "hooks/hooks.json", values)] == codes


def test_hooks_of_another_client_are_left_out(tmp_path: Path) -> None:
    """An extension of Gemini CLI has events of its own in a file of the same name."""
    assert reported(tmp_path, "hooks/hooks.json", hooks("BeforeAgent", "node ${extensionPath}/a.js")) == []


@pytest.mark.parametrize("script, codes", [("there.sh", []), ("gone.sh", ["OCT731"])])
def test_scripts_of_hooks_in_a_plugin_of_codex(tmp_path: Path, script: str, codes: list[str]) -> None:
    """Hooks of a plugin of Codex run scripts in the plugin's folder, which must be there."""
    (tmp_path / ".codex-plugin").mkdir()
    (tmp_path / ".codex-plugin/plugin.json").write_text('{"name": "acme"}', encoding="utf-8")
    (tmp_path / "there.sh").touch()
    values = hooks("SessionStart", f'sh "${{PLUGIN_ROOT}}/{script}"')
    assert [code for code, _ in reported(tmp_path, "hooks/hooks.json", values)] == codes


def test_secrets_are_at_their_place_in_a_file_of_secrets(tmp_path: Path) -> None:
    """A file of secrets is read for its syntax, and its values are not reported."""
    token = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    text = f"mcp:\n  servers:\n    github:\n      env:\n        GITHUB_TOKEN: {token}\n"
    assert reported(tmp_path, "mcp_agent.secrets.yaml", text) == []
    assert [code for code, _ in reported(tmp_path, "mcp_agent.secrets.yaml", f"{text}    - broken\n")] == ["OCT738"]


def test_the_list_of_docker_s_gateway(tmp_path: Path) -> None:
    """A name of a server that a catalogue defines needs no definition."""
    assert reported(tmp_path, "registry.yaml", 'registry:\n  fetch:\n    ref: ""\n') == []
    assert [code for code, _ in reported(tmp_path, "registry.yaml", "registry:\n  fetch: {ref: [}\n")] != []


def test_files_that_define_no_servers_are_no_workspace_s(tmp_path: Path) -> None:
    """A list of servers and a file of secrets are not named by `octoc init`, and make no folder a workspace."""
    (tmp_path / "registry.yaml").write_text('registry:\n  fetch:\n    ref: ""\n', encoding="utf-8")
    (tmp_path / "mcp_agent.secrets.yaml").write_text("mcp:\n  servers: {a: {env: {A: b}}}\n", encoding="utf-8")
    assert find_inputs(tmp_path).mcp_files == ()
    assert own_server_file(tmp_path) is None
