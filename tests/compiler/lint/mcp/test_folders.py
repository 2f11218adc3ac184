"""Home folders in shared files, and servers that reach a whole disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lint = Callable[..., Any]
FILES = "@modelcontextprotocol/server-filesystem"


@pytest.mark.parametrize(
    "entry, marked",
    [
        ({"command": "/Users/mira/bin/x"}, "/Users/mira"),
        ({"command": "x", "args": ["--root=/home/bob/src"]}, "/home/bob"),
        ({"command": "x", "args": ["C:\\Users\\eve\\x.js"]}, r"C:\\Users\\eve"),
        ({"command": "x", "env": {"PATH": "/usr/bin:/home/bob/bin"}}, "/home/bob"),
        ({"command": "x", "cwd": "/Users/mira"}, "/Users/mira"),
        ({"command": "docker", "args": ["run", "-v", "/home/bob/x:/data", "img"]}, "/home/bob"),
        ({"command": "docker", "args": ["compose", "-f", "/home/bob/c.yml", "run", "img"]}, "/home/bob"),
    ],
)
def test_a_home_folder_in_a_shared_file(lint: Lint, entry: dict[str, Any], marked: str) -> None:
    """The part of the value that names the folder is marked."""
    assert lint(servers={"s": entry}).shown("OCT761") == [("OCT761", marked)]


def test_a_file_has_one_finding_with_a_count(lint: Lint) -> None:
    """A file with many such values has one finding, at the first."""
    servers = {name: {"command": f"/Users/mira/{name}", "cwd": "/Users/mira"} for name in ("a", "b")}
    (found,) = lint(servers=servers).of("OCT761")
    assert found.message == "`command` of server `a` names the home folder of one user (and 3 more in this file)"
    assert "${HOME}" in str(found.help)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/home/linuxbrew/.linuxbrew/bin/npx"},
        {
            "command": "/home/node/x",
            "args": ["/Users/Shared/x", "/Users/username/x", "/home/YOUR_NAME/x", "/home/<you>/x"],
        },
        {"command": "x", "args": ["https://h.example/home/bob/x", "${ROOT}/home/bob", "./home/bob/x"]},
        {"command": "docker", "args": ["run", "-i", "-v", "./x:/home/bob/x", "img"]},
        {"command": "docker", "args": ["exec", "-i", "-u", "bob", "-w", "/home/bob", "box", "npx", "x"]},
        {"type": "http", "url": "https://h.example/Users/mira/"},
        {"command": "/Users/mira/x", "disabled": True},
    ],
)
def test_paths_that_every_machine_has(lint: Lint, entry: dict[str, Any]) -> None:
    """Accounts of images, placeholders, addresses and paths in containers are not findings."""
    assert lint(servers={"s": entry}).of("OCT761") == []


@pytest.mark.parametrize(
    "file, command, severity, advice",
    [
        (".mcp.json", "/home/eve/src/a/a.js", "warning", "`${HOME}`"),
        (".mcp.json", "/home/eve/.local/bin/uvx", "warning", "write `uvx`"),
        (".mcp.json", "C:/Users/eve/a/a.exe", "info", "`${USERPROFILE}`"),
        (".cursor/mcp.json", r"C:\Users\eve\AppData\Roaming\npm\a.cmd", "info", "`${env:APPDATA}`"),
        (".mcp.json", "C:/Users/eve/src/acme/a.exe", "warning", "relative to the project"),
        (".junie/mcp/mcp.json", "/Users/eve/a/artisan", "warning", "version control"),
        (".windsurf/mcp_config.json", "/home/eve/a/a", "info", "`${env:HOME}`"),
        ("claude_desktop_config.json", "/home/eve/a/a", "info", "version control"),
        (".vscode/mcp.json", "/home/eve/a/a", "warning", "begin it with `${workspaceFolder}`"),
        (".vscode/mcp.json", "/home/eve/.vscode/extensions/a-1.0.0/a", "warning", "your own settings"),
    ],
)
def test_the_advice_fits_the_path_and_the_client(
    lint: Lint, tmp_path: Path, file: str, command: str, severity: str, advice: str
) -> None:
    """Windows has no HOME, a program on PATH needs no folder, and not every client replaces variables."""
    settings = f'[workspace]\nname = "a"\n[mcp]\nfiles = ["{file}"]\n'
    command = command.replace("acme", tmp_path.name)
    text = json.dumps({"mcpServers": {"s": {"type": "stdio", "command": command}}})
    (found,) = lint({"octoc.toml": settings, file: text}).of("OCT761")
    assert found.severity.label == severity
    assert advice in str(found.help)


def test_codex_takes_a_variable_from_its_own_environment(lint: Lint) -> None:
    """A path in `env` of its file is a variable that each colleague sets."""
    settings = '[workspace]\nname = "a"\n[mcp]\nfiles = [".codex/config.toml"]\n'
    text = '[mcp_servers.s]\ncommand = "s"\nenv = { DATA = "/Users/mira/data" }\n'
    (found,) = lint({"octoc.toml": settings, ".codex/config.toml": text}).of("OCT761")
    assert found.help == "name `DATA` in `env_vars` instead, and set it on each machine"


@pytest.mark.parametrize("file", ["examples/.mcp.json", "docs/.cursor/mcp.json"])
def test_files_that_a_project_does_not_share(lint: Lint, file: str) -> None:
    """Examples and documentation may name a home folder."""
    settings = f'[workspace]\nname = "a"\n[mcp]\nfiles = ["{file}"]\n'
    text = '{"mcpServers": {"s": {"type": "stdio", "command": "/Users/mira/x"}}}'
    assert lint({"octoc.toml": settings, file: text}).of("OCT761") == []


def test_production_mode_reports_a_command_line_once(lint: Lint) -> None:
    """OCT447 reports a command line in production mode, and OCT761 the other values."""
    entry = {"command": "/Users/mira/x", "env": {"A": "/Users/mira/y"}}
    linted = lint(servers={"s": entry}, mode="production")
    assert linted.shown("OCT447", "OCT761") == [("OCT447", '"/Users/mira/x"'), ("OCT761", "/Users/mira")]


@pytest.mark.parametrize(
    "entry, marked",
    [
        ({"command": "npx", "args": ["-y", FILES, "./a", "/"]}, "/"),
        ({"command": "npx", "args": ["-y", FILES, "~"]}, "~"),
        ({"command": "npx", "args": ["-y", FILES, "${HOME}/"]}, "${HOME}/"),
        ({"command": "npx", "args": ["-y", FILES, "C:\\"]}, r"C:\\"),
        ({"command": "npx", "args": ["-y", FILES, "/Users/mira"]}, "/Users/mira"),
        ({"command": "mcp-server-filesystem", "args": ["/home"]}, "/home"),
        ({"command": "sh", "args": ["-c", f"exec npx -y {FILES} $HOME"]}, "$HOME"),
        ({"command": "docker", "args": ["run", "-v", "/:/host:ro", "img"]}, "/:/host:ro"),
        ({"command": "docker", "args": ["run", "--mount", "type=bind,src=/,dst=/p", "mcp/filesystem", "/p"]}, "src=/"),
    ],
)
def test_a_server_that_reaches_everything(lint: Lint, entry: dict[str, Any], marked: str) -> None:
    """A root and a whole home folder are reported at the argument."""
    (found,) = lint(servers={"s": entry}).shown("OCT762")
    assert marked in found[1]


@pytest.mark.parametrize(
    "entry",
    [
        {
            "command": "npx",
            "args": ["-y", FILES, ".", "./", "~/notes", "/Users/mira/notes", "${workspaceFolder}", "/srv"],
        },
        {"command": "npx", "args": ["-y", "other-server", "/"]},
        {"command": "docker", "args": ["run", "-v", "~/.aws:/app/.aws", "-v", "data:/", "--workdir", "/", "img"]},
    ],
)
def test_a_server_of_some_folders(lint: Lint, entry: dict[str, Any]) -> None:
    """A folder inside the home, a volume, and a root for another kind of server are not findings."""
    assert lint(servers={"s": entry}).of("OCT762") == []
