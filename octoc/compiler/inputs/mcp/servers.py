"""Definitions of MCP servers: `.mcp.json`, and what other clients have in its place."""

import json
import re
from collections.abc import Mapping
from typing import Any

from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.plugin.file_kinds import ANY, FileKind, units_under

SERVER_UNITS = (
    *("timeout", "timeoutMs", "include_tools/*", "toolFilter/*"),
    *("headersHelper", "alwaysLoad", "stateful", "dev", "sandboxEnabled", "sandbox", "gallery", "version"),
)
"""What can be cut out of a server's definition."""


def _has_servers(values: Mapping[str, Any]) -> bool:
    """Tell whether values have servers of MCP: a catalogue is a list, and other programs have `servers`, too."""
    others = values.get("servers")
    entries = others.values() if isinstance(others, Mapping) else ()
    return isinstance(values.get("mcpServers"), Mapping) or any(
        isinstance(entry, Mapping) and not {"command", "url"}.isdisjoint(entry) for entry in entries
    )


_HEAD = re.compile(r'\s*\{(?:\s*"(?:\$schema|_comment|name|description)"\s*:\s*"[^"\n]*"\s*,)*\s*"mcpServers"\s*:\s*\{')

_ELISION = re.compile(r"[\[{,]\s*(?:\.\.\.|…)")


def _may_list_servers(head: str) -> bool:
    return '"mcpServers"' in head and _HEAD.match(head) is not None


def _lists_servers(text: str) -> bool:
    """Tell whether a JSON file of any name has servers; a broken one by what it begins with."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return _ELISION.search(text) is None
    servers = values["mcpServers"]
    return isinstance(servers, Mapping) and any(
        isinstance(one, Mapping) and not {"command", "url", "args"}.isdisjoint(one) for one in servers.values()
    )


MCP = FileKind(
    name="mcp",
    role="servers",
    syntax="json",
    units=(
        ("$schema",),
        ("inputs",),
        ("inputs", ANY),
        ("mcpServers", ANY),
        ("servers", ANY),
        *units_under("mcpServers", ANY, of=SERVER_UNITS),
        *units_under("servers", ANY, of=SERVER_UNITS),
    ),
    convert="octoc.compiler.inputs.mcp.convert:convert_servers",
    check="octoc.compiler.check.mcp:check_mcp",
    exclude="octoc.compiler.check.mcp:is_of_other_program",
    recognize=_has_servers,
    marks=('"mcpServers"', '"servers"'),
    may_be=_may_list_servers,
    is_one=_lists_servers,
    # One server, as the MCP registry publishes it; and the archived OpenCode in Go, whose `env` is a list.
    other_names=frozenset({"server.json", ".opencode.json"}),
    dialect=CLAUDE,
    scan="everywhere",
    is_complete=True,
    structure="octoc.compiler.structure.stage:mcp_file",
)
