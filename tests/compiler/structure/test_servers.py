"""Every dialect's server definition becomes one form."""

import json
from typing import Any

import pytest

from octoc.compiler.model.source import ServerSource
from octoc.compiler.structure.servers import server_of_mcp, server_of_octomind
from octoc.diagnostics.model import Place

PLACE = Place(file=".mcp.json", path=("mcpServers", "a"))


def of_mcp(**entry: Any) -> ServerSource:
    """Return the server that an entry of `.mcp.json` defines."""
    return server_of_mcp("a", entry, PLACE)


TRANSPORTS = [
    ({"command": "x"}, "stdio"),
    ({"type": "stdio", "command": "x"}, "stdio"),
    ({"url": "u"}, "http"),
    ({"type": "http", "url": "u"}, "http"),
    ({"type": "streamable-http", "url": "u"}, "http"),
    ({"type": "streamable_http", "url": "u"}, "http"),
    ({"type": "streamableHttp", "url": "u"}, "http"),
    ({"type": "sse", "url": "u"}, "sse"),
    ({"type": "ws", "url": "u"}, "ws"),
]


@pytest.mark.parametrize("entry,transport", TRANSPORTS)
def test_a_transport_has_one_name(entry: dict[str, Any], transport: str) -> None:
    """A transport is called by one name, whatever a client calls it or leaves out."""
    assert of_mcp(**entry).transport == transport


TIMEOUTS = [
    ({}, None),
    ({"timeout": 1500}, 1.5),
    ({"timeout": 1000}, 1.0),
    ({"timeout": 999}, None),
    ({"timeoutMs": 250}, 0.25),
    ({"timeout": 5000, "timeoutMs": 250}, 0.25),
]


@pytest.mark.parametrize("entry,seconds", TIMEOUTS)
def test_time_outs_become_seconds(entry: dict[str, Any], seconds: float | None) -> None:
    """Milliseconds become seconds; Claude Code's values below one second are ignored, Octopus's are not."""
    assert of_mcp(command="x", **entry).timeout_s == seconds


FILTERS: list[tuple[dict[str, Any], tuple[str, ...] | None, tuple[str, ...]]] = [
    ({}, None, ()),
    ({"include_tools": []}, (), ()),
    ({"toolFilter": []}, (), ()),
    ({"include_tools": ["a", "b*"]}, ("a", "b*"), ()),
    ({"toolFilter": ["a"]}, ("a",), ()),
    ({"exclude_tools": ["a"]}, None, ("a",)),
]


@pytest.mark.parametrize("entry,include,exclude", FILTERS)
def test_an_empty_allow_list_allows_no_tool(
    entry: dict[str, Any], include: tuple[str, ...] | None, exclude: tuple[str, ...]
) -> None:
    """An absent allow-list filters nothing, and an empty one allows no tool."""
    server = of_mcp(command="x", **entry)
    assert (server.include, server.exclude) == (include, exclude)


@pytest.mark.parametrize(
    "entry,disabled",
    [({}, False), ({"disabled": True}, True), ({"disabled": False}, False), ({"enabled": False}, True)],
)
def test_a_server_can_be_switched_off(entry: dict[str, Any], *, disabled: bool) -> None:
    """Octo's `disabled` and Octopus's `enabled` say whether a server is left out."""
    assert of_mcp(command="x", **entry).disabled is disabled


def test_all_that_reaches_a_server_is_carried() -> None:
    """Arguments, environment, folder, file of variables, headers and authorisation keep their values."""
    local = of_mcp(
        command="x",
        args=["-a"],
        env={"A": "${A}", "N": 3, "F": 0.5, "NONE": None},
        cwd="${workspaceFolder}",
        envFile=".env",
    )
    assert (local.command, local.args, local.cwd, local.env_file) == ("x", ("-a",), "${workspaceFolder}", ".env")
    assert local.env == {"A": "${A}", "N": "3", "F": "0.5"}
    remote = of_mcp(type="http", url="u", headers={"X": "y"}, oauth={"clientId": "c"})
    assert (remote.url, remote.headers, remote.auth) == ("u", {"X": "y"}, {"type": "oauth", "clientId": "c"})
    assert of_mcp(type="http", url="u", auth={"CLIENT_ID": "c"}).auth == {"CLIENT_ID": "c"}
    assert of_mcp(type="http", url="u").auth is None


def test_octomind_s_empty_list_of_tools_is_every_tool() -> None:
    """`tools = []` of a `[[mcp.servers]]` block filters nothing; its time-out is in seconds."""
    entry: dict[str, Any] = {"name": "a", "type": "stdio", "command": "x", "timeout_seconds": 60, "tools": []}
    server = server_of_octomind(entry, PLACE)
    assert (server.include, server.timeout_s, server.transport) == (None, 60.0, "stdio")
    assert server_of_octomind({**entry, "tools": ["t*"]}, PLACE).include == ("t*",)
    assert server_of_octomind({"name": "a", "type": "builtin"}, PLACE).transport == "builtin"


def test_no_secret_is_shown() -> None:
    """What a server's model shows of itself has no value of its environment, headers or authorisation."""
    secret = "hunter2"
    server = of_mcp(command="x", env={"A": secret}, headers={"A": secret}, auth={"client_secret": secret})
    assert secret not in repr(server)
    assert json.dumps(dict(server.env)) == f'{{"A": "{secret}"}}'
