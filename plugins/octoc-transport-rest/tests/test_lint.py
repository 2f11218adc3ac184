"""The plugin's lint rules: how many tools a REST server has and of which names, and a server that nothing connects."""

import json
from pathlib import Path
from typing import Any

import pytest

import octoc_transport_rest
from octoc.compiler import build, resolve_workspace, write_snapshot
from octoc.plugin import DiagnosticSink, ListedTool, ServerListing, plugins_of
from octoc.testing import WorkspaceBuilder

CODES = {"OCT446", "REST001", "REST002"}


def _found(
    root: Path, names: list[str], *, use: tuple[str, ...] = ("transport-rest",), strict: bool = False, **info: Any
) -> list[tuple[str, str, str]]:
    builder = WorkspaceBuilder(root, plugins={"use": list(use)}, mcp={"files": [".mcp.json"]})
    entry = {"type": "rest", "url": "https://tools.example/orders"}
    builder.file(".mcp.json", json.dumps({"mcpServers": {"orders": entry}})).write()
    made, _, _ = resolve_workspace(root, plugins=plugins_of())
    assert made is not None
    tools = tuple(
        ListedTool(
            name=name, description="d", wire={"name": name, "description": "d", "inputSchema": {"type": "object"}}
        )
        for name in names
    )
    listing = ServerListing(server_info=info, protocol_version="octopus-rest", instructions=None, tools=tools)
    assert write_snapshot(root, made.resolved.servers[0], listing, None, DiagnosticSink()) is not None
    outcome = build(root, plugins=plugins_of(octoc_transport_rest), strict=strict)
    found = ((one.rule.code, one.severity.name.lower(), one.message) for one in outcome.diagnostics)
    return [one for one in found if one[0] in CODES]


def test_a_hundred_tools_are_sound(tmp_path: Path) -> None:
    """A server at the limit has no finding."""
    assert _found(tmp_path, [f"tool_{number}" for number in range(100)]) == []


@pytest.mark.parametrize("strict, severity", [(False, "warning"), (True, "error")])
def test_more_than_a_hundred_tools(tmp_path: Path, *, strict: bool, severity: str) -> None:
    """A hundred and one are too many: a warning, and an error where the build is strict."""
    found = _found(tmp_path, [f"tool_{number}" for number in range(101)], strict=strict)
    message = "server `orders` has 101 tools: over `rest` only the first 100 are taken"
    assert found == [("REST001", severity, message)]


def test_tools_that_were_left_out_count(tmp_path: Path) -> None:
    """What the transport left out when it recorded the others is counted, since a snapshot has a hundred at most."""
    found = _found(tmp_path, [f"tool_{number}" for number in range(100)], toolsLeftOut=17)
    assert [message for _, _, message in found] == [
        "server `orders` has 117 tools: over `rest` only the first 100 are taken"
    ]


def test_names_that_the_protocol_does_not_take(tmp_path: Path) -> None:
    """A recorded tool whose name has a hyphen or a capital is a warning."""
    assert _found(tmp_path, ["fine_1", "find-order", "findOrder"]) == [
        ("REST002", "warning", "tool `find-order` of server `orders` has a name that `rest` does not take"),
        ("REST002", "warning", "tool `findOrder` of server `orders` has a name that `rest` does not take"),
    ]


def test_a_workspace_without_the_plugin(tmp_path: Path) -> None:
    """A REST server in a workspace without the plugin is reported, with the line to add."""
    assert _found(tmp_path, ["fine"], use=()) == [
        ("OCT446", "warning", "server `orders` is reached over `rest`, whose plugin the workspace does not use")
    ]
