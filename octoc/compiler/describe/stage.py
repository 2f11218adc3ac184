"""Stage describe: the prompt section that lists the servers of an agent with the proxy, in Octo's words."""

from __future__ import annotations

import attrs

from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.names import BUILTIN

SHOWN = 5
"""Maximum number of tool names in the line of a server. Source: Octo, prompt sections."""
# Source: Octo, prompt sections.
_HEAD = """\
## MCP Tool Access

MCP tools are available via `find_tools(query)` and `call_mcp_tool(name, args)`.
Workflow: search for tools first, then call them with the exact name and arguments returned by find_tools.

Available servers:"""


def describe(build: Build, context: Context) -> Build:  # noqa: ARG001  # a stage's shape
    """Fill `prompts` with the section of every agent that has the proxy and sees at least one server."""
    transports = {server.name: server.transport for server in build.resolved.servers}
    prompts: dict[str, str] = {}
    for agent, registry in build.scoped.registries.items():
        if not registry.proxy:
            continue
        names: dict[str, list[str]] = {}
        for index in registry.tools:
            tool = build.scoped.tools[index].id
            names.setdefault(tool.server, []).append(tool.tool.rpartition("__")[2])
        for grant in registry.unlisted:
            if transports[grant.server] != BUILTIN:  # a built-in server has no tool before the host binds one
                names.setdefault(grant.server, [])
        ordered = [(server.name, names[server.name]) for server in build.resolved.servers if server.name in names]
        if ordered:
            prompts[agent] = "\n".join([_HEAD, *(_line(*server) for server in ordered)])
    return attrs.evolve(build, prompts=prompts)


def _line(server: str, tools: list[str]) -> str:
    if not tools:
        return f"- **{server}** (its tools are known once it is connected)"
    more = f" (+{len(tools) - SHOWN} more)" if len(tools) > SHOWN else ""
    return f"- **{server}** ({len(tools)} tools): {', '.join(tools[:SHOWN])}{more}"
