import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.model.resolved import Server
from octoc.compiler.pin.packages import Package
from octoc.compiler.pin.record import (
    NotPinned,
    named_servers,
    pin_live,
    pin_targets_for_dump,
    redacted,
    write_snapshot,
)
from octoc.compiler.pin.snapshots import listing_of_snapshot
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.installation import install_command
from octoc.plugin import Transport, hookimpl
from octoc.plugin.manager import Plugins, plugins_of
from octoc.results import ListedTool, ServerListing
from octoc.testing import stdio_script
from octoc_transport_mcp import McpTransport

DUMP = Place(file="dump.json")


class McpPlugin:
    @hookimpl
    def octoc_make_transport(self, kind: str) -> Transport | None:
        return McpTransport(kind)


def server(name: str, line: str = "", **more: Any) -> Server:
    """A server that is started by a command line."""
    command, *args = line.split() or [""]
    fields = {"transport": "stdio", "place": Place(file=".mcp.json"), "definition": f"digest of {name}", **more}
    return Server(name=name, command=command or None, args=tuple(fields.pop("args", args)), **fields)


def listing_of(*names: str, **descriptions: str) -> ServerListing:
    """A listing of tools by name, or by name and description."""
    tools = {**dict.fromkeys(names, "text"), **descriptions}
    return ServerListing(
        server_info={"name": "s"},
        protocol_version="2026-07-28",
        instructions=None,
        tools=tuple(
            ListedTool(name=name, description=text, wire={"name": name, "description": text, "inputSchema": {}})
            for name, text in tools.items()
        ),
    )


def pinned(
    subject: Server, workspace: Path, env: dict[str, str] | None = None, *plugins: object, production: bool = False
) -> ServerListing | NotPinned:
    """What pinning a server gives, with the given environment."""
    manager: Plugins = plugins_of(*(plugins or (McpPlugin(),)), env=env or {})
    return asyncio.run(pin_live(subject, manager, workspace, production=production))


SERVERS = (
    server("time", "uvx mcp-server-time==2026.7.10"),
    server("clock", "uvx --from Mcp_Server.Time clock"),
    server("files", "npx -y @modelcontextprotocol/server-filesystem@1 ."),
    server("remote", transport="http", url="https://example.org/mcp"),
)


def test_a_real_server_is_pinned(tmp_path: Path) -> None:
    """Pinning a real server gives its tools, and the snapshot that is written reads back as them."""
    program = Path(sys.executable).with_name("mcp-server-time")
    time = server("time", f"{program} --local-timezone=${{ZONE:-UTC}}")
    listing = pinned(time, tmp_path)
    assert isinstance(listing, ServerListing)
    assert [tool.name for tool in listing.tools] == ["get_current_time", "convert_time"]
    sink = DiagnosticSink()
    written = write_snapshot(tmp_path, time, listing, "mcp-server-time", sink)
    assert written is not None
    assert written.is_new
    assert written.path == tmp_path / "snapshots" / "time.json"
    assert listing_of_snapshot(written.path.read_text(encoding="utf-8")) == listing
    assert sink.diagnostics == ()


FAILURES = [
    (server("x", "octoc-no-such-command"), "command `octoc-no-such-command` was not found on PATH"),
    (server("x", "cat ${ONE} {{ENV:TWO}} ${ONE}"), "server `x` needs `ONE`, `TWO`, which are not set"),
    (server("x", transport="builtin"), "`x` is bound by the host or a plugin: there is nothing to connect to"),
    (server("x", "cat", env_file="no.env"), "/no.env`, which cannot be read"),
]


@pytest.mark.parametrize("subject,message", FAILURES, ids=["command", "variables", "builtin", "env-file"])
def test_a_server_that_cannot_be_asked_says_why(tmp_path: Path, subject: Server, message: str) -> None:
    """Each reason for which a server cannot be pinned is one line."""
    assert message in str(pinned(subject, tmp_path))


def test_production_refuses_what_it_refuses_of_a_connection(tmp_path: Path) -> None:
    """In production mode nothing is sent over plain HTTP beyond this machine, as at run time."""
    web = server("web", transport="http", url="http://mcp.invalid/mcp", headers={"Authorization": "Bearer ${TOKEN}"})
    refused = pinned(web, tmp_path, {"TOKEN": "s3cr3t-value"}, production=True)
    assert "a plain `http` address beyond this machine, which production mode refuses" in str(refused)


class BrokenPlugin:
    @hookimpl
    def octoc_make_transport(self, kind: str) -> Transport | None:
        raise RuntimeError(f"no {kind} with s3cr3t-value")


def test_a_transport_that_breaks_is_a_reason(tmp_path: Path) -> None:
    """A fault of a plugin is the reason of its server alone, and shows no resolved value."""
    refused = pinned(server("x", "cat ${KEY}"), tmp_path, {"KEY": "s3cr3t-value"}, BrokenPlugin())
    assert isinstance(refused, NotPinned)
    assert "s3cr3t-value" not in str(refused)
    assert not refused.needs


NAMES = stdio_script("""
def tools():
    return [{"name": "null", "inputSchema": None}, "ok", " ", "ok", {"inputSchema": {"type": "object"}}]
""")


def test_a_tool_that_cannot_be_used_stands_in_the_snapshot_as_left_out(tmp_path: Path) -> None:
    """Whatever part of octoc leaves a tool out, the snapshot has a line on it, which a check reports."""
    names = server("names", sys.executable, args=["-c", NAMES])
    listing = pinned(names, tmp_path)
    assert isinstance(listing, ServerListing), listing
    assert [tool.name for tool in listing.tools] == ["ok"]
    assert listing.left_out == (
        "number 1: it has the name `null` and cannot be read: `inputSchema`: input should be a valid dictionary",
        "number 3: it has no name",
        "number 4: it has the name `ok` of another one before it",
        "number 5: it has no name",
    )
    written = write_snapshot(tmp_path, names, listing, None, DiagnosticSink())
    assert written is not None
    assert json.loads(written.path.read_text(encoding="utf-8"))["leftOut"] == list(listing.left_out)


def test_without_a_transport_the_package_is_named(tmp_path: Path) -> None:
    """Where no plugin has a transport, the line says what to install."""

    class Nothing:
        pass

    assert install_command("octoc-transport-mcp") in str(pinned(server("x", "cat"), tmp_path, {}, Nothing()))


ECHO = stdio_script("""
key = os.environ["KEY"]
hello["serverInfo"] = {"name": "echo", "version": key}
hello["instructions"] = f"key {key} file " + os.environ["FROM_FILE"]


def tools():
    schema = {"type": "object", "default": {"k": [key]}}
    return [{"name": "t", "description": f"for {key} and " + os.environ["SHORT"], "inputSchema": schema}]
""")


def test_no_resolved_value_lands_in_a_snapshot(tmp_path: Path) -> None:
    """What a server echoes of its environment is cut out of every text; what is too short to be a secret stays."""
    (tmp_path / ".env").write_text("# a comment\nexport FROM_FILE='file-secret-1'\n", encoding="utf-8")
    env = {"KEY": "${KEY}", "SHORT": "${SHORT}"}
    echo = server("echo", sys.executable, args=["-c", ECHO], env=env, env_file="${workspaceFolder}/.env")
    listing = pinned(echo, tmp_path, {"KEY": "s3cr3t-value", "SHORT": "on"})
    assert isinstance(listing, ServerListing), listing
    assert listing.instructions == "key *** file ***"
    assert listing.server_info["version"] == "***"
    assert listing.tools[0].description == "for *** and on"
    assert listing.tools[0].wire["inputSchema"]["default"] == {"k": ["***"]}
    assert "s3cr3t-value" not in repr(listing)


def test_redaction_keeps_names_and_the_longest_value_goes_first() -> None:
    """A tool's name is never changed, and a value inside another leaves nothing of the longer one."""
    listing = redacted(listing_of(secret1="secret1-and-more, secret1"), ["secret1", "secret1-and-more"])
    assert listing.tools[0].name == "secret1"
    assert listing.tools[0].wire["name"] == "secret1"
    assert listing.tools[0].description == "***, ***"


def test_a_dump_finds_every_server_that_runs_its_package() -> None:
    """Without a server's name, all whose command runs the package are found, whatever version or spelling."""
    sink = DiagnosticSink()
    package = Package(registry="pypi", name="mcp-server-time", version="2026.10.19")
    assert [s.name for s in pin_targets_for_dump(package, SERVERS, None, DUMP, sink)] == ["time", "clock"]
    unsaid = Package(registry="", name="@modelcontextprotocol/server-filesystem")
    assert [s.name for s in pin_targets_for_dump(unsaid, SERVERS, None, DUMP, sink)] == ["files"]
    assert sink.diagnostics == ()


TIME = Package(registry="pypi", name="mcp-server-time")
MEMORY = Package(registry="npm", name="@modelcontextprotocol/server-memory")


@pytest.mark.parametrize(
    "line,package,is_found",
    [
        ("mcp-server-time --local-timezone=UTC", TIME, True),
        ("/opt/venv/bin/mcp-server-time", TIME, True),
        ("mcp-server-time.exe", TIME, True),
        ("python3.12 -m mcp_server_time --local-timezone UTC", TIME, True),
        ("python -m mcp_server_times", TIME, False),
        ("node -m mcp_server_time", TIME, False),
        ("run mcp-server-time", TIME, False),
        ("node node_modules/@modelcontextprotocol/server-memory/dist/index.js", MEMORY, True),
        ("/app/node_modules/@modelcontextprotocol/server-memory/cli.js", MEMORY, True),
        ("node node_modules/@modelcontextprotocol/server-memory-2/dist/index.js", MEMORY, False),
    ],
)
def test_a_dump_finds_the_installed_program_of_its_package(line: str, package: Package, is_found: bool) -> None:
    """A command that starts the package where it is installed runs it, too: the program that is called like it."""
    sink = DiagnosticSink()
    subject = server("one", line)
    assert pin_targets_for_dump(package, [subject], None, DUMP, sink) == ((subject,) if is_found else ())


def test_a_named_server_is_taken_whatever_it_runs() -> None:
    """With a server's name the package does not matter."""
    sink = DiagnosticSink()
    assert pin_targets_for_dump(None, SERVERS, "remote", DUMP, sink) == (SERVERS[3],)
    assert sink.diagnostics == ()


def test_a_dump_that_no_server_runs_is_reported_with_what_is_in_use() -> None:
    """The diagnostic names the packages in use, and the near one."""
    sink = DiagnosticSink()
    package = Package(registry="pypi", name="mcp-server-tme")
    assert pin_targets_for_dump(package, SERVERS, None, DUMP, sink) == ()
    assert pin_targets_for_dump(None, SERVERS, None, DUMP, sink) == ()
    unsaid, none = sink.diagnostics
    assert none.rule.code == unsaid.rule.code == "OCT542"
    assert none.message == "no server runs package `mcp-server-tme`"
    assert "`@modelcontextprotocol/server-filesystem`" in none.notes[0]
    assert none.help is not None
    assert "`mcp-server-time`" in none.help
    assert unsaid.message == "`dump.json` does not say which package it was recorded from"


def test_an_unknown_server_is_reported_with_a_near_name() -> None:
    """A name that no server has is a diagnostic, and the others are still found, each once."""
    sink = DiagnosticSink()
    assert [s.name for s in named_servers(["clok", "time", "time"], SERVERS, sink)] == ["time"]
    (found,) = sink.diagnostics
    assert found.rule.code == "OCT543"
    assert found.help == "did you mean `clock`?"


def test_an_unchanged_snapshot_is_not_touched(tmp_path: Path) -> None:
    """Writing the same again leaves the file as it is; other tools are written and told."""
    sink = DiagnosticSink()
    subject = SERVERS[0]
    first = write_snapshot(tmp_path, subject, listing_of("a"), None, sink)
    assert first is not None
    before = first.path.stat().st_ino
    again = write_snapshot(tmp_path, subject, listing_of("a"), None, sink)
    assert again is not None
    assert not again.is_new
    assert again.changes == ()
    assert again.path.stat().st_ino == before
    changed = write_snapshot(tmp_path, subject, listing_of("a", "b"), None, sink)
    assert changed is not None
    assert list(map(str, changed.changes)) == ["widening: `b` added"]
    assert [path.name for path in (tmp_path / "snapshots").iterdir()] == ["time.json"]
    assert sink.diagnostics == ()


def test_a_snapshot_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """A file in the place of the snapshots folder is a diagnostic."""
    (tmp_path / "snapshots").write_text("a file", encoding="utf-8")
    sink = DiagnosticSink()
    assert write_snapshot(tmp_path, SERVERS[0], listing_of("a"), None, sink) is None
    assert [found.rule.code for found in sink.diagnostics] == ["OCT545"]
