"""Names of servers, how they are reached, and paths of one machine."""

from collections.abc import Callable
from typing import Any

import pytest

Lint = Callable[..., Any]


@pytest.mark.parametrize(
    "name, code",
    [
        ("Time Zones", "OCT443"),
        ("com.example.time", "OCT443"),
        ("zeit-übersicht", "OCT443"),
        ("workspace", "OCT444"),
        ("Claude Preview", "OCT444"),
    ],
)
def test_names_that_clients_refuse(lint: Lint, name: str, code: str) -> None:
    """A name outside the alphabet of tools' names, and one that is reserved, are marked at the key."""
    assert lint(servers={name: {"command": "x"}}).shown() == [(code, f'"{name}"')]


@pytest.mark.parametrize("name", ["time", "Time_Zones-2", "workspaces"])
def test_usual_names(lint: Lint, name: str) -> None:
    """Letters, digits, `-` and `_` are all that a name needs."""
    assert lint(servers={name: {"command": "x"}}).shown() == []


def test_a_reserved_name_is_reserved_by_one_client(lint: Lint) -> None:
    """In VS Code's own file a name that Claude Code reserves is as good as any."""
    toml = '[workspace]\nname = "acme"\n\n[mcp]\nfiles = [".vscode/mcp.json"]\n'
    file = '{"servers": {"workspace": {"type": "stdio", "command": "x"}}}'
    assert lint({"octoc.toml": toml, ".vscode/mcp.json": file}).shown() == []


@pytest.mark.parametrize(
    "entry, shown",
    [
        ({"type": "sse", "url": "https://h.example/sse"}, [("OCT445", '"sse"')]),
        ({"type": "ws", "url": "wss://h.example/ws"}, [("OCT446", '"ws"')]),
        ({"type": "http", "url": "https://h.example", "oauth": {"clientId": "x"}}, []),
        ({"type": "http", "url": "https://h.example", "auth": {"type": "oauth"}}, []),
        ({"type": "http", "url": "https://h.example", "auth": {"type": "bearer", "token": "${T}"}}, []),
        ({"type": "http", "url": "https://h.example", "auth": {"CLIENT_ID": "x"}}, []),
        ({"type": "http", "url": "https://h.example", "auth": {"type": "mtls"}}, [("OCT446", '"auth"')]),
        (
            {"type": "http", "url": "https://h.example", "oauth": {"authServerMetadataUrl": "https://h.example/m"}},
            [("OCT446", '"oauth"')],
        ),
        ({"command": "x", "auth": {"type": "oauth"}}, [("OCT446", '"auth"')]),
        ({"type": "http", "url": "https://h.example"}, []),
        ({"type": "http", "url": "${BASE}/mcp"}, []),
        ({"type": "sse", "url": "https://h.example/sse", "disabled": True}, []),
    ],
)
def test_how_a_server_is_reached(lint: Lint, entry: dict[str, Any], shown: list[tuple[str, str]]) -> None:
    """A deprecated or unknown transport is marked where the file names it."""
    assert lint(servers={"s": entry}).shown() == shown


@pytest.mark.parametrize("url", ["unix:///run/mcp.sock", "h.example/mcp", "localhost:8080"])
def test_an_address_that_is_not_of_http(lint: Lint, url: str) -> None:
    """An address without a scheme, or with one of another kind, is marked."""
    assert lint(servers={"s": {"type": "http", "url": url}}).shown("OCT748") == [("OCT748", f'"{url}"')]


@pytest.mark.parametrize(
    "entry, marked",
    [
        ({"command": "/opt/bin/server"}, ['"/opt/bin/server"']),
        ({"command": "C:\\tools\\server.exe"}, ['"C:\\\\tools\\\\server.exe"']),
        ({"command": "x", "args": ["/home/ada/notes.txt"]}, ['"/home/ada/notes.txt"']),
        ({"command": "x", "args": ["--file=/srv/notes.txt", "~/notes"]}, ['"--file=/srv/notes.txt"', '"~/notes"']),
        (
            {"command": "docker", "args": ["run", "-v", "/home/ada:/data", "-w", "/data", "image"]},
            ['"/home/ada:/data"'],
        ),
        ({"command": "/usr/bin/env", "args": ["x", "/dev/null"]}, []),
        ({"command": "cmd", "args": ["/c", "npx", "server"]}, []),
        ({"command": "sh", "args": ["-c", "exec /opt/bin/server --root /srv"]}, []),
        ({"command": "./bin/server", "args": ["${workspaceFolder}/x", "a/b", "https://h.example/x"]}, []),
    ],
)
def test_absolute_paths_in_production(lint: Lint, entry: dict[str, Any], marked: list[str]) -> None:
    """A path of one machine is marked in production mode; what every machine has is not."""
    assert lint(servers={"s": entry}, mode="production").shown() == [("OCT447", text) for text in marked]


def test_absolute_paths_in_development(lint: Lint) -> None:
    """On the machine where it is written a path is right."""
    assert lint(servers={"s": {"command": "/opt/bin/server"}}).shown() == []
