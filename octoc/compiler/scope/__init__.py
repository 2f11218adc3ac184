"""scope: each agent's registry. Tools are numbered and named; what an agent may not see is not in its registry."""

from __future__ import annotations

import attrs

from octoc.aliases import make_aliases
from octoc.bundle.model import Registry
from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Resolved, Scoped, ScopedTool
from octoc.compiler.scope.registry import Fleet, registry_of
from octoc.compiler.scope.skills import skills_of
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import ALIAS_CLASH
from octoc.names import ToolId

__all__ = ["scope"]


def scope(resolved: Resolved, context: Context) -> Scoped:
    """Number all tools in server order, and build every agent's registry from its type, tools and capabilities."""
    tools = _numbered(resolved, context.sink)
    fleet = Fleet.of(resolved, tools)
    registries: dict[str, Registry] = {}
    for agent in resolved.agents:
        registry = registry_of(agent, fleet, context.sink)
        if registry is not None:
            registries[agent.name] = attrs.evolve(registry, skills=skills_of(agent, fleet, context.sink))
    return Scoped(resolved=resolved, tools=tools, registries=registries)


def _numbered(resolved: Resolved, sink: DiagnosticSink) -> tuple[ScopedTool, ...]:
    listed = {ToolId(server.name, tool.name): tool for server in resolved.servers for tool in server.tools}
    style = resolved.sources.discovered.settings.alias_style
    aliases, clashes = make_aliases(tuple(listed), "bare" if style == "bare" else "qualified")
    places = {server.name: server.place for server in resolved.servers}
    for clash in clashes:
        first, *others = clash
        sink.report(
            ALIAS_CLASH,
            f"tool `{first.tool}` is on {len(clash)} servers, and aliases are bare",
            at=places[first.server],
            related={f"also on `{other.server}`": places[other.server] for other in others},
            help='set `style = "qualified"` in `[aliases]`, or filter the tool on one of the servers',
        )
    return tuple(ScopedTool(id=tool, alias=aliases[tool], listed=wire) for tool, wire in listed.items())
