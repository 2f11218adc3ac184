"""Stage describe: the prompt section that lists the servers of an agent with the proxy."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from octoc.bundle.model import Registry
from octoc.choices import ResultProfile
from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import ScopedTool, Server
from octoc.compiler.model.scopes import AgentPlacement
from octoc.names import BUILTIN

SHOWN = 5
"""Maximum number of tool names in the line of a server. Source: Octo, prompt sections."""
# Source: Octo, prompt sections. Its names of arguments are not those of the tool: only profile `octo` keeps them.
_OCTO_CALL = "call_mcp_tool(name, args)"
_CALL = "call_mcp_tool(tool_name, arguments)"
_HEAD = """\
## MCP Tool Access

MCP tools are available via `find_tools(query)` and `{call}`.
Workflow: search for tools first, then call them with the exact name and arguments returned by find_tools.

Available servers:"""


def describe(build: Build, context: Context) -> Build:  # noqa: ARG001  # a stage's shape
    """Fill `prompts` with the section of every agent that searches and sees at least one server."""
    tools, servers = build.scoped.tools, build.resolved.servers
    placements = {} if build.resolved.scopes is None else build.resolved.scopes.members
    profile = build.settings.results.profile
    sections = {
        agent: servers_section(
            registry,
            tools,
            servers,
            placements.get(agent, AgentPlacement()).settings.results_profile or profile,
        )
        for agent, registry in build.scoped.registries.items()
        if registry.searches
    }
    return attrs.evolve(build, prompts={agent: section for agent, section in sections.items() if section})


def servers_section(
    registry: Registry, tools: Sequence[ScopedTool], servers: Sequence[Server], profile: ResultProfile
) -> str:
    """Return the section on the servers that an agent searches, "" for an agent without servers."""
    transports = {server.name: server.transport for server in servers}
    built_in = {(server.name, tool) for server in servers for tool in server.roles}
    names: dict[str, list[str]] = {}
    for index in registry.tools:
        tool = tools[index].id
        if (tool.server, tool.tool) in built_in:
            continue
        names.setdefault(tool.server, []).append(tool.tool.rpartition("__")[2])
    for grant in registry.unlisted:
        if transports[grant.server] != BUILTIN:  # a built-in server has no tool before the host binds one
            names.setdefault(grant.server, [])
    lines = [_line(server.name, names[server.name]) for server in servers if server.name in names]
    head = _HEAD.format(call=_OCTO_CALL if profile == "octo" else _CALL)
    return "\n".join([head, *lines]) if lines else ""


def _line(server: str, tools: list[str]) -> str:
    if not tools:
        return f"- **{server}** (its tools are known once it is connected)"
    more = f" (+{len(tools) - SHOWN} more)" if len(tools) > SHOWN else ""
    return f"- **{server}** ({len(tools)} tools): {', '.join(tools[:SHOWN])}{more}"
