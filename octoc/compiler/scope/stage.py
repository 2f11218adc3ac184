"""Stage scope: number and name the tools, and make each agent's registry with only the tools that it may use."""

from __future__ import annotations

import attrs

from octoc.aliases import make_aliases, own_alias
from octoc.bundle.model import Registry
from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Agent, Scoped, ScopedTool
from octoc.compiler.scope.aliases import check_aliases, style_of
from octoc.compiler.scope.binding import with_bound
from octoc.compiler.scope.ceiling import CeilingScopes
from octoc.compiler.scope.confine import confined
from octoc.compiler.scope.conflicts import check_scopes
from octoc.compiler.scope.denied import held_to_denials
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.offers import AgentScopes, offers_of
from octoc.compiler.scope.own_file import check_own_file
from octoc.compiler.scope.reasons import Reasons
from octoc.compiler.scope.registry import Registries
from octoc.compiler.scope.skills import skills_of
from octoc.compiler.scope.unreached import check_unreached
from octoc.diagnostics.model import DiagnosticSink
from octoc.names import ToolId


def scope(build: Build, context: Context) -> Build:
    """Number all tools in server order, build every agent's registry, and fill `scoped`.

    The scopes limit the tools that an agent's type, file and capabilities give it. What is left decides whether the
    agent gets it directly.
    """
    resolved = build.resolved
    tools = _numbered(build)
    fleet = Fleet.of(build, tools)
    scopes = resolved.scopes
    left_out = frozenset[str]() if scopes is None else scopes.left_out
    limits = None if scopes is None else CeilingScopes.of(scopes, fleet)
    if limits is not None and not limits.scopes.closed:
        check_scopes(limits, context.sink)
    made, registries = Registries(fleet), dict[str, Registry]()
    for agent in resolved.agents:
        registry = None if agent.name in left_out else made.of(agent, context.sink)
        if registry is None:
            continue
        registry = attrs.evolve(registry, skills=skills_of(agent, fleet, context.sink))
        registries[agent.name] = (
            _without(registry, fleet.by_grant) if limits is None else _limited(agent, registry, limits, context.sink)
        )
    check_aliases(registries, tools, build, context.sink)
    agents = {agent.name: agent for agent in resolved.agents}
    if limits is not None:
        check_unreached(registries, agents, limits, context.sink)
    reasons = {} if limits is None else Reasons(registries, agents, limits)
    bound = with_bound(registries, tools, build)
    build = attrs.evolve(build, scoped=Scoped(tools=tools, registries=bound, reasons=reasons))
    access = AgentScopes(fleet=fleet, made=made, registries=bound, scopes=scopes)
    offers = offers_of(build, access, context.sink)
    return attrs.evolve(build, scoped=attrs.evolve(build.scoped, offers=offers)) if offers else build


def _without(registry: Registry, tools: frozenset[int]) -> Registry:
    """Return a registry without some tools."""
    kept, direct = (tuple(one for one in held if one not in tools) for held in (registry.tools, registry.direct))
    return attrs.evolve(registry, tools=kept, direct=direct) if tools else registry


def _limited(agent: Agent, registry: Registry, limits: CeilingScopes, sink: DiagnosticSink) -> Registry:
    """Return the part of a registry that the scopes allow: all of it if they withhold nothing."""
    scopes = limits.scopes
    if scopes.limits_nothing and not scopes.deny and not limits.fleet.by_grant:
        return registry
    ceiling = limits.ceiling(agent.name)
    inside = confined(agent, registry, ceiling, limits)
    check_own_file(agent, registry, inside, ceiling, limits, sink)
    return held_to_denials(agent, inside, ceiling, limits, sink)


def _numbered(build: Build) -> tuple[ScopedTool, ...]:
    listed = {ToolId(server.name, tool.name): tool for server in build.resolved.servers for tool in server.tools}
    style = style_of(build.settings)
    aliases = make_aliases(listed, style)
    return tuple(
        ScopedTool(id=tool, alias=alias, listed=listed[tool], contested=alias != own_alias(tool, style))
        for tool, alias in aliases.items()
    )
