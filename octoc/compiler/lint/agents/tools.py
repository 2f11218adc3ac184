"""A rule over an agent's `tools`: names without their server."""

from __future__ import annotations

from octoc.aliases import sanitize
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.model.build import Build
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.hosts import HOST_TOOLS
from octoc.compiler.scope.registry import Registries
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_agents import BARE_TOOL
from octoc.plugin.lint import lint_check


@lint_check(BARE_TOOL)
def check_bare_tools(build: Build, sink: DiagnosticSink) -> None:
    """Report a tool name without a server that one of several servers has: the name also grants a later server's tool.

    An agent with one server is not reported.
    """
    agents = [agent for agent in build.resolved.agents if agent.source.tools and agent.name in build.scoped.registries]
    if not agents:
        return
    registries = Registries(Fleet.of(build, build.scoped.tools))
    for agent in agents:
        grants = registries.visible_grants(agent)
        if len(grants) < 2:
            continue
        owners: dict[str, list[str]] = {}
        for grant in grants:
            for tool in grant.tools:
                owners.setdefault(tool.tool, []).append(tool.server)
        for entry in agent.source.tools or ():
            have = owners.get(entry.value, [])
            if len(have) != 1 or entry.value in HOST_TOOLS or entry.value in registries.fleet.servers[have[0]].roles:
                continue
            # Each client has a spelling of its own, and octoc reads both.
            claude = agent.source.kind == "claude"
            full = f"mcp__{sanitize(have[0])}__{sanitize(entry.value)}" if claude else f"{have[0]}/{entry.value}"
            sink.report(
                BARE_TOOL,
                f"tool `{entry.value}` of agent `{agent.name}` is named without its server `{have[0]}`",
                at=entry.place,
                help=f"write `{full}`, so that no other server that offers `{entry.value}` is granted, too",
                fix=replaced(entry.place, entry.value, full, f"write `{full}`"),
            )
