"""A transport kind of a plugin, from the file that names it to a call: checked, built, connected."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.workspace.build import build
from octoc.plugin import ServerTarget, TransportKind, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.plugin.transports import transport_kinds
from octoc.results import ContentPart, ListedTool, ServerListing, ToolCall, ToolResult
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder
from octoc.transport_kinds import STANDARD

QUEUE = TransportKind(
    key="acme-queue",
    needs="url",
    settings={
        "type": "object",
        "properties": {"queue": {"type": "string"}, "token": {"type": "string"}},
        "required": ["queue"],
        "additionalProperties": False,
    },
    secrets=("token",),
)
SERVER = {
    "type": "acme-queue",
    "url": "https://queue.example",
    "settings": {"queue": "jobs", "token": "${QUEUE_TOKEN}"},
}


@attrs.define(eq=False)
class Queue:
    """The plugin, its transport and its only connection."""

    kind: TransportKind = QUEUE
    targets: list[ServerTarget] = attrs.field(factory=list)
    alive: bool = True

    @hookimpl
    def octoc_transport_kinds(self) -> tuple[TransportKind, ...]:
        return (self.kind,)

    @hookimpl
    def octoc_make_transport(self, kind: str) -> Any:
        return self if kind == self.kind.key else None

    async def connect(self, target: ServerTarget, host: object = None) -> Any:
        self.targets.append(target)
        return self

    async def list_tools(self) -> ServerListing:
        wire = {"name": "push", "description": "Pushes a job", "inputSchema": {"type": "object"}}
        tool = ListedTool(name="push", description="Pushes a job", wire=wire)
        return ServerListing(server_info={}, protocol_version="queue", instructions=None, tools=(tool,))

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(content=(ContentPart(type="text", text=f"pushed {call.arguments['job']}"),))

    async def close(self) -> None:
        self.alive = False


def workspace(root: Path, server: Mapping[str, Any] = SERVER) -> Path:
    """Write a workspace with one server."""
    builder = WorkspaceBuilder(root, mcp={"files": [".mcp.json"]}, routing={"encoder": "none"})
    return builder.file(".mcp.json", json.dumps({"mcpServers": {"jobs": server}})).write()


def findings(root: Path, server: Mapping[str, Any], *plugins: object) -> list[tuple[str, str]]:
    """Return what is wrong with a server, code and message."""
    diagnostics = check_workspace(workspace(root, server), plugins=plugins_of(*plugins), use_cache=False).diagnostics
    return [(one.rule.code, one.message) for one in diagnostics if one.severity.name != "INFO"]


def test_a_server_of_the_kind_is_called(tmp_path: Path) -> None:
    """A server of a plugin's kind is checked, built and called; its settings arrive with references resolved."""
    queue = Queue()
    assert findings(tmp_path, SERVER, queue) == []
    outcome = build(tmp_path, plugins=plugins_of(queue), allow_degraded=True)
    path = outcome.bundle
    assert path is not None
    assert b"acme-queue" in path.read_bytes()
    plugins = plugins_of(queue, env={"QUEUE_TOKEN": "s3cr3t-value"})

    async def scenario() -> Any:
        async with Runtime.open(path, plugins=plugins, workspace=tmp_path) as runtime:
            return await runtime.call_direct("jobs", "push", {"job": "a"})

    result = asyncio.run(scenario())
    assert isinstance(result, ToolResult)
    assert result.text == "pushed a"
    (target,) = queue.targets
    assert (target.transport, target.url) == ("acme-queue", "https://queue.example")
    assert target.settings == {"queue": "jobs", "token": "s3cr3t-value"}
    assert "s3cr3t-value" in target.secrets


@pytest.mark.parametrize(
    "change, found",
    [
        ({"settings": {"queue": 7}}, ("OCT203", "expected a string for `mcpServers.jobs.settings.queue`")),
        ({"settings": {}}, ("OCT202", "`mcpServers.jobs.settings` has no `queue`")),
        ({"settings": {"queue": "a", "size": 1}}, ("OCT201", "unknown key `size` in `mcpServers.jobs.settings`")),
        ({"url": None}, ("OCT225", "server `jobs` is `acme-queue` and has no `url`")),
        (
            {"settings": {"queue": "a", "token": "hunter2"}},
            ("OCT340", "server `jobs` has a literal secret in `settings.token`"),
        ),
    ],
)
def test_an_unsound_server_is_left_out(tmp_path: Path, change: dict[str, Any], found: tuple[str, str]) -> None:
    """The plugin's schema checks `settings`, and octoc checks what the kind says of the other fields."""
    server = {key: value for key, value in {**SERVER, **change}.items() if value is not None}
    (only,) = findings(tmp_path, server, Queue())
    assert only[0] == found[0]
    assert only[1].startswith(found[1])


def test_a_kind_of_no_plugin_is_unknown(tmp_path: Path) -> None:
    """Without the plugin the kind is unknown, and with it the kind stands among those that are expected."""
    ((code, message),) = findings(tmp_path, SERVER)
    assert (code, message.partition(":")[0]) == ("OCT222", "`acme-queue` is not a `type` that Claude Code knows")
    ((_, message),) = findings(tmp_path, {**SERVER, "type": "acme-queu"}, Queue())
    assert message.endswith("`ws`, `rest` or `acme-queue`")


def test_a_plugin_connects_a_standard_kind(tmp_path: Path) -> None:
    """`ws`, which no transport of octoc does, is reported unless a plugin registers it."""
    server = {"type": "ws", "url": "wss://queue.example"}
    assert [code for code, _ in findings(tmp_path, server)] == ["OCT446"]
    assert findings(tmp_path, server, Queue(kind=STANDARD["ws"])) == []


@pytest.mark.parametrize(
    "kind, why",
    [
        (attrs.evolve(QUEUE, key="queue"), "whose key is not words joined by `-`, as `acme-queue`"),
        (attrs.evolve(STANDARD["http"], needs=None), "which octoc defines otherwise"),
    ],
)
def test_an_unsound_kind_is_refused(tmp_path: Path, kind: TransportKind, why: str) -> None:
    """Octoc reports a kind that it cannot use."""
    found = findings(tmp_path, {"command": "x"}, Queue(kind=kind))
    message = f"plugin `object:0:Queue` registers transport kind `{kind.key}`, {why}"
    assert ("OCT724", message) in found


def test_two_plugins_with_one_kind() -> None:
    """When two plugins register one kind, the first keeps it."""
    registered = transport_kinds(plugins_of(Queue(), Queue()))
    assert registered.connected == {"acme-queue"}
    (refused,) = registered.refused
    assert refused.message == (
        "plugin `object:1:Queue` registers transport kind `acme-queue`, which plugin `object:0:Queue` has too"
    )


def test_an_unsound_schema_leaves_the_server_out(tmp_path: Path) -> None:
    """A kind whose schema is not one is reported at the server that has it."""
    queue = Queue(kind=attrs.evolve(QUEUE, settings={"type": "mapping"}))
    ((code, message),) = findings(tmp_path, SERVER, queue)
    assert code == "OCT724"
    assert message.startswith("the schema of transport kind `acme-queue`, which server `jobs` has, is unsound")
