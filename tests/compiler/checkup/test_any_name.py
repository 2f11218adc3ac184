"""Files of servers that only their content tells, and those that dotfiles keep under other names."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
SERVERS = {"mcpServers": {"notes": {"command": "notes-mcp", "env": {"GITHUB_TOKEN": TOKEN}}}}


def check(root: Path, name: str, content: str) -> list[tuple[str, str, int]]:
    """Return rule, severity and line of what a check of a folder with one file finds, without information."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    outcome = check_target(CheckTarget(root=root, folder=root), use_cache=False)
    return [
        (one.rule.code, one.severity.label, one.span.line if one.span else 0)
        for one in outcome.diagnostics
        if one.severity > Severity.INFO
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("config/desk.json", ".gemini/config/mcp_config.json", "dot_cursor/mcp.json", "dot_augment/settings.json"),
        "dot_gemini/private_settings.json",
    ],
)
def test_a_token_is_found_wherever_the_servers_stand(tmp_path: Path, name: str) -> None:
    """Files that begin with `mcpServers`, and those of clients that chezmoi writes under another name, are read."""
    assert check(tmp_path, name, json.dumps(SERVERS, indent=1)) == [("OCT725", "error", 6)]


@pytest.mark.parametrize(
    "name, content",
    [
        ("dot_gemini/settings.json.tmpl", "{{ if .work }}"),
        ("data.json", json.dumps({"other": 1, **SERVERS})),
        ("fixtures/desk.json", json.dumps(SERVERS)),
        (".opencode.json", json.dumps({"mcpServers": {"notes": {"command": "n", "env": ["A=1"]}}})),
        ("sketch.json", '{"mcpServers": {"notes": {"command": "n", "env": {...}}}}'),
        ("own.json", json.dumps({"mcpServers": {"notes": {"command": "/Users/ada/n", "auth": {"prefix": "B"}}}})),
        ("state.json", json.dumps({"mcpServers": {"notes": {"tools": 3}}})),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, name: str, content: str) -> None:
    """Templates, files with another first key, those of tests, and sketches are not read; own forms are allowed."""
    assert check(tmp_path, name, content) == []


def test_a_broken_file_of_servers_is_an_error_at_the_end_of_its_line(tmp_path: Path) -> None:
    """The missing bracket belongs after the last element, not before the brace of the next line."""
    content = '{\n "mcpServers": {\n  "notes": {\n   "args": ["a"\n  }\n }\n}\n'
    assert check(tmp_path, "desk/acme.json", content) == [("OCT107", "error", 4)]


def test_two_servers_of_one_name_in_a_list(tmp_path: Path) -> None:
    """Both are checked, and the second is reported."""
    block = "name: a\nversion: 0.0.1\nschema: v1\nmcpServers:\n"
    entry = '  - name: notes\n    command: "notes{more}"\n'
    content = block + entry.format(more="\\a") + entry.format(more="")
    assert check(tmp_path, ".continue/mcpServers/a.yaml", content) == [
        ("OCT760", "warning", 6),
        ("OCT109", "warning", 7),
    ]


@pytest.mark.parametrize(
    "name, key",
    [(".roo/mcp.json", "alwaysAllow"), (".kiro/settings/mcp.json", "autoApprove")],
)
def test_a_list_of_tools_that_is_a_text(tmp_path: Path, name: str, key: str) -> None:
    """It is an error at its place: Roo Code refuses all servers of the file for it."""
    content = json.dumps({"mcpServers": {"notes": {"command": "notes-mcp", key: "read, write"}}}, indent=1)
    assert check(tmp_path, name, content) == [("OCT203", "error", 5)]


@pytest.mark.parametrize(
    "files, registry, expected",
    [
        ({"package.json": '{\n  "name": "acme-mcp"\n}'}, "pypi", [("OCT204", "warning", 8)]),
        ({"package.json": '{\n  "name": "acme-mcp"\n}'}, "npm", []),
        ({"pyproject.toml": '[project]\nname = "acme-mcp"\n'}, "npm", [("OCT204", "warning", 8)]),
        ({"package.json": '{\n  "name": "acme-mcp"\n}', "pyproject.toml": ""}, "pypi", []),
    ],
)
def test_the_registry_of_the_package_beside_it(
    tmp_path: Path, files: Mapping[str, str], registry: str, expected: list[Any]
) -> None:
    """A `server.json` that names the package of a manifest beside it has that manifest's registry."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    package = {"registryType": registry, "identifier": "acme-mcp", "version": "1.0.0", "transport": {"type": "stdio"}}
    entry = {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"}
    entry |= {"name": "io.github.acme/acme", "description": "Notes.", "version": "1.0.0"}
    assert check(tmp_path, "server.json", json.dumps({**entry, "packages": [package]}, indent=1)) == expected


@pytest.mark.parametrize(
    "name, servers, entry, key",
    [
        (".zed/settings.json", "context_servers", {"comand": "notes-mcp", "args": ["serve"]}, "OCT208"),
        (".cursor/mcp.json", "mcpServers", {"command": "notes-mcp", "enviroment": {"A": "b"}}, "OCT208"),
        (".agents/mcp_config.json", "mcpServers", {"command": "n", "serverUrl": "https://n.example/mcp"}, "OCT223"),
        ("claude_desktop_config.json", "mcpServers", {"command": "n", "env": {"KEY": "${KEY}"}}, "OCT440"),
    ],
)
def test_mistakes_in_an_entry(tmp_path: Path, name: str, servers: str, entry: Mapping[str, Any], key: str) -> None:
    """A slip of a key, two ways to reach a server, and a reference that nothing replaces are found in each client."""
    assert key in {code for code, _, _ in check(tmp_path, name, json.dumps({servers: {"notes": entry}}))}


def test_a_command_that_is_also_a_prompt_keeps_its_places(tmp_path: Path) -> None:
    """A key of front matter is reported at its line, though the file is read as plain text, too."""
    content = "---\ndescription: Look\ntools: Read\n---\nLook at the change.\n"
    assert check(tmp_path, ".claude/commands/team/look.md", content) == [("OCT746", "warning", 3)]
