"""Servers in the files of clients that come from others: Qwen Code, Kilo Code, Antigravity, Mistral Vibe."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import Plugins
from tests.compiler.dialects import findings, servers_of

TIME = {"transport": "stdio", "command": "uvx", "args": ("mcp-server-time==2026.10.19",)}
DOCS = {"transport": "http", "url": "https://docs.example/mcp"}
PROGRAM = {"command": "uvx", "args": ["mcp-server-time==2026.10.19"]}
QWEN = {
    "permissions": {"allow": ["Bash(ls *)"]},
    "mcpServers": {
        "time": {**PROGRAM, "env": {"KEY": "$TIME_KEY"}, "timeout": 15000, "discoveryTimeoutMs": 60000},
        "docs": {"httpUrl": DOCS["url"], "trust": True},
        "old": {"url": "https://old.example/sse"},
    },
    "$version": 4,
}
KILO = """{
  // of the team
  "mcp": {
    "time": {"type": "local", "command": ["uvx", "mcp-server-time==2026.10.19"], "environment": {"A": "{env:B}"}},
    "docs": {"type": "remote", "url": "https://docs.example/mcp", "enabled": false, "timeout": 15000},
  },
}
"""
KILO_LEGACY = {
    "mcpServers": {
        "time": {**PROGRAM, "alwaysAllow": ["get_current_time"], "timeout": 60},
        "docs": {"type": "streamable-http", "url": DOCS["url"], "disabled": True},
    }
}
ANTIGRAVITY = {
    "mcpServers": {
        "time": {**PROGRAM, "$typeName": "a.b.C"},
        "docs": {"serverUrl": DOCS["url"], "url": DOCS["url"], "oauth": {"clientId": "a"}, "disabledTools": ["write"]},
    }
}
VIBE = """active_model = "devstral-2"

[[mcp_servers]]
name = "time"
transport = "stdio"
command = "uvx mcp-server-time==2026.10.19"
env = { LANG = "C" }
tool_timeout_sec = 30

[[mcp_servers]]
name = "docs"
transport = "streamable-http"
url = "https://docs.example/mcp"
api_key_env = "DOCS_KEY"
api_key_header = "X-Key"
api_key_format = "{token}"
disabled_tools = ["write"]

[tools.bash]
permission = "ask"
"""
CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        ".qwen/settings.json",
        json.dumps(QWEN),
        {
            "time": {**TIME, "env": {"KEY": "${TIME_KEY}"}, "timeout_s": 15.0},
            "docs": DOCS,
            "old": {"transport": "sse", "url": "https://old.example/sse"},
        },
    ),
    ("kilo.jsonc", KILO, {"time": {**TIME, "env": {"A": "${env:B}"}}, "docs": {**DOCS, "disabled": True}}),
    (
        ".kilocode/mcp.json",
        json.dumps(KILO_LEGACY),
        {"time": {**TIME, "timeout_s": 60.0}, "docs": {**DOCS, "disabled": True}},
    ),
    (".agents/mcp_config.json", json.dumps(ANTIGRAVITY), {"time": TIME, "docs": {**DOCS, "exclude": ("write",)}}),
    (
        ".vibe/config.toml",
        VIBE,
        {
            "time": {**TIME, "env": {"LANG": "C"}, "timeout_s": 30.0},
            "docs": {**DOCS, "headers": {"X-Key": "${DOCS_KEY}"}, "exclude": ("write",)},
        },
    ),
]


@pytest.mark.parametrize("path, text, expected", CASES, ids=[path for path, _, _ in CASES])
def test_a_client(path: str, text: str, expected: dict[str, Any], tmp_path: Path) -> None:
    """The file's servers are octoc's, and a sound file has no error and no warning."""
    assert servers_of(path, text) == expected
    assert findings(tmp_path, path, text) == []


@pytest.mark.parametrize(
    "path, text, expected",
    [
        (
            ".kilocode/mcp.json",
            '{"mcpServers": {\n "a": {"type": "http", "url": "https://a.example/mcp"}}}',
            [("OCT780", "Kilo Code refuses `http` as the `type` of server `a`", 2)],
        ),
        (
            "kilo.jsonc",
            '{"mcp": {\n "a": {"type": "local", "command": "a-mcp"}}}',
            [("OCT203", "Kilo Code expects a list of the program and its arguments as `command` of server `a`", 2)],
        ),
        (
            ".agents/mcp_config.json",
            '{"mcpServers": {"a": {"command": "a-mcp",\n "env": {"N": 1}}}}',
            [("OCT229", "variable `N` is a number, which Antigravity refuses", 2)],
        ),
        (
            ".vibe/config.toml",
            '[[mcp_servers]]\nname = "a"\ncommand = "a-mcp"\nenv = {B = "${C}"}\n',
            [
                ("OCT202", "server `a` has no `transport`, and Mistral Vibe skips it", 1),
                ("OCT440", "`mcp_servers[0].env.B` has a reference, which Mistral Vibe passes on as text", 4),
            ],
        ),
    ],
)
def test_what_a_client_refuses(path: str, text: str, expected: list[tuple[str, str, int]], tmp_path: Path) -> None:
    """A value that the client cannot use is a finding at its line."""
    assert findings(tmp_path, path, text) == expected


@pytest.mark.parametrize("path", ["mcp-servers.json", "mcp_config.json", ".mcp.local.json"])
@pytest.mark.parametrize(
    "text, codes",
    [
        ('{"mcpServers": {"a": {"command": "a-mcp", "args": 3}}}', ["OCT203"]),
        ('{"servers": {"a": {"command": "a-mcp", "args": 3}}}', ["OCT203"]),
        ('{"servers": [{"name": "a"}]}', []),
        ('{"servers": {"a": {"baseUrl": "https://a.example", "transport": "x"}}}', []),
    ],
)
def test_a_file_that_no_client_has_for_itself(path: str, text: str, codes: list[str], tmp_path: Path) -> None:
    """Its content tells: a catalogue, or another program's servers, are not judged."""
    (tmp_path / path).write_text(text, encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False).diagnostics
    assert [one.rule.code for one in found if one.severity > Severity.INFO] == codes


@pytest.mark.parametrize("path", [".qwen/settings.json", "kilo.json", ".vibe/config.toml"])
def test_settings_without_servers_have_no_finding(path: str, tmp_path: Path) -> None:
    """A client's settings that have no list of servers are not judged."""
    text = 'active_model = "a"\n' if path.endswith(".toml") else '{"permissions": {"allow": ["Bash(ls *)"]}}'
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    assert (
        check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False).diagnostics == ()
    )


@pytest.mark.parametrize("path", [".claude/mcp.json", ".claude/.mcp.json"])
def test_a_file_that_claude_code_does_not_read(path: str, tmp_path: Path) -> None:
    """Servers in Claude Code's folder are a warning, and information beside a `.mcp.json`."""
    text = json.dumps({"mcpServers": {"time": PROGRAM}})
    message = "Claude Code does not read this file by itself: servers of a project stand in `.mcp.json`"
    assert findings(tmp_path, path, text) == [("OCT767", message, 1)]
    (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False).diagnostics
    assert [one.severity for one in found if one.rule.code == "OCT767"] == [Severity.INFO]
