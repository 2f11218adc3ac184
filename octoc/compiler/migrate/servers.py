"""Which server each tool of an export is on: Octopus names tools without one.

Servers that agents register become REST servers, one for each address and credential. A group's tools are the host's
own (its plugins'): from the one recorded server that has a tool of the name, else from a server that is the host's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from octoc.compiler.migrate.export import Export, ExportedServer
from octoc.compiler.migrate.notes import Notes
from octoc.compiler.migrate.surroundings import Surroundings
from octoc.compiler.migrate.texts import Names, slug

MCP_FILE = "octopus.mcp.json"
HOST = "octopus-tools"
"""The server that stands for the tools of Octopus's own plugins; Octopus's bridge to its sibling calls it so, too."""
_URL, _TOKEN = "OCTOPUS_TOOLS_URL", "OCTOPUS_TOOLS_TOKEN"
_USUAL_MS = 30000


@attrs.frozen(kw_only=True)
class ServerPlan:
    """`servers`: the entries of MCP_FILE by name. `names`: (address, credential) -> server, of those that are used.

    `tools`: a bare name of a group's tool -> `server/tool`. `off`: servers that no agent has switched on.
    """

    servers: Mapping[str, Mapping[str, Any]]
    names: Mapping[tuple[str, int], str]
    tools: Mapping[str, str]
    off: frozenset[str] = frozenset()

    def name_of(self, server: ExportedServer) -> str:
        return self.names[server.url, server.credential]


def plan_servers(export: Export, around: Surroundings, notes: Notes) -> ServerPlan:
    """Return where the tools of an export are."""
    tools = _host_tools(export, around, notes)
    names = Names([*around.servers, HOST])
    found: dict[tuple[str, int], str] = {}
    used: dict[str, list[ExportedServer]] = {}
    for agent in export.agents.values():
        for server in agent.servers:
            identity = server.url, server.credential
            if identity not in found:
                found[identity] = names.take(slug(server.label) or "server")
                if found[identity] != server.label:
                    notes.add(f"server `{server.label}` of agent `{agent.name}` is called `{found[identity]}`")
            used.setdefault(found[identity], []).append(server)
    servers = {name: _entry(group) for name, group in used.items()}
    if HOST not in around.servers and any(tool.startswith(f"{HOST}/") for tool in tools.values()):
        servers[HOST] = {
            "type": "rest",
            "url": f"${{{_URL}}}",
            "auth": {"type": "bearer", "token": f"${{{_TOKEN}}}"},
        }
        notes.add(
            f"tools of groups are expected on server `{HOST}`: set {_URL} and {_TOKEN}, "
            "or name the servers that have them"
        )
    off = frozenset(name for name, group in used.items() if not any(server.enabled for server in group))
    return ServerPlan(servers=servers, names=found, tools=tools, off=off)


def _host_tools(export: Export, around: Surroundings, notes: Notes) -> dict[str, str]:
    found = {}
    for tool in dict.fromkeys(tool for group in export.groups.values() for tool in group.tools):
        owners = around.owners.get(tool, ())
        if len(owners) > 1:
            several = " and ".join(f"`{owner}`" for owner in owners)
            notes.add(f"tool `{tool}` is on {several}: it is granted as `{HOST}/{tool}` until you say which is meant")
        found[tool] = f"{owners[0] if len(owners) == 1 else HOST}/{tool}"
    return found


def _entry(group: list[ExportedServer]) -> dict[str, Any]:
    first = group[0]
    entry: dict[str, Any] = {"type": "rest", "url": first.url}
    if first.credential:
        entry["auth"] = {"type": "bearer", "token": f"${{cred:{first.credential}}}"}
    # As with all definitions that differ in time-outs alone, the longer one counts.
    if any(server.timeout_ms is not None for server in group):
        longest = max(_USUAL_MS if server.timeout_ms is None else server.timeout_ms for server in group)
        entry["timeoutMs"] = int(longest) if longest == int(longest) else longest
    if not any(server.enabled for server in group):
        entry["enabled"] = False
    return entry
