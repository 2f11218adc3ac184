"""Servers of a tap: packages that move, and where a command line names them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from octoc.diagnostics.rule import Severity

TAP = '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n'


@pytest.mark.parametrize(
    "command, args, marked, says",
    [
        ("npx", ["-y", "@a/notes"], "@a/notes", "without a version"),
        ("npx", ["-y", "notes@^1.2"], "notes", "at `^1.2`, which moves"),
        ("sh", ["-c", "cd x && exec uvx notes --v notes.md"], "notes", "without a version"),
        ("uvx", ["--from", "git+https://example.org/notes", "notes"], "git+https://example.org/notes", "without a"),
        ("docker", ["run", "-i", "mcp/notes"], "mcp/notes", "without a version"),
        ("npx", ["-y", "notes@1.2.0"], None, ""),
    ],
)
def test_a_package_that_moves_is_marked_where_it_is_named(
    lint: Callable[..., Any], command: str, args: list[str], marked: str | None, says: str
) -> None:
    """The package's name itself is marked, also inside a script; a fixed version has no finding."""
    provider = (
        f'[roles.mcp]\nserver_refs = ["notes"]\n[[mcp.servers]]\nname = "notes"\ntype = "stdio"\n'
        f'command = "{command}"\nargs = {json.dumps(args)}\ntimeout_seconds = 30\ntools = []\n'
    )
    linted = lint({"octoc.toml": TAP, "taps/acme/capabilities/notes/default.toml": provider})
    assert linted.shown("OCT402") == ([] if marked is None else [("OCT402", marked)])
    for found in linted.of("OCT402"):
        assert says in found.message


def test_the_advice_is_in_the_registrys_own_spelling(lint: Callable[..., Any]) -> None:
    """The help for an image writes its version after a colon."""
    provider = (
        '[roles.mcp]\nserver_refs = ["notes"]\n[[mcp.servers]]\nname = "notes"\ntype = "stdio"\n'
        'command = "docker"\nargs = ["run", "mcp/notes"]\ntimeout_seconds = 30\ntools = []\n'
    )
    linted = lint({"octoc.toml": TAP, "taps/acme/capabilities/notes/default.toml": provider})
    assert [found.help for found in linted.of("OCT402")] == ["write `mcp/notes:X.Y.Z`"]


def test_an_unpinned_package_in_a_workspaces_own_file_is_information(lint: Callable[..., Any]) -> None:
    """In a `.mcp.json` an unpinned package is information, since no other workspace uses it, unless settings differ."""
    servers = {"notes": {"command": "npx", "args": ["-y", "@a/notes"]}}
    assert [found.severity for found in lint(servers=servers).of("OCT402")] == [Severity.INFO]
    strict = '[workspace]\nname = "acme"\n\n[lint]\nrules = { unpinned-package = "error" }\n'
    assert [found.severity for found in lint({"octoc.toml": strict}, servers=servers).of("OCT402")] == [Severity.ERROR]


@pytest.mark.parametrize(
    "host, count",
    [("h.example", 1), ("127.0.0.1:80", 0), ("127.0.1.1", 0), ("LOCALHOST", 0), ("[::1]:8", 0), ("1.2.7.0", 1)],
)
def test_plain_http_beyond_this_machine(lint: Callable[..., Any], host: str, count: int) -> None:
    """Every address of the loopback network is this machine."""
    linted = lint(servers={"a": {"type": "http", "url": f"http://{host}/mcp"}})
    assert len(linted.of("OCT403")) == count
