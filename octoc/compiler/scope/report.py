"""The scope of an agent, and the agents that reach a tool, for people and hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from octoc.bundle.model import AgentSettings, Registry
from octoc.bundle.offers import Offer
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.scopes import AgentPlacement, ReachStep, Scopes
from octoc.compiler.resolve.scopes.names import NameLookup
from octoc.compiler.resolve.spelling import meet
from octoc.compiler.scope.ceiling import Ceiling, CeilingScopes, granted_to
from octoc.compiler.scope.confine import reached, reached_of
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.tools import ToolSet
from octoc.diagnostics.model import Diagnostic, DiagnosticSink, Place
from octoc.names import glob_matches

DIRECT, DEFERRED, ACTIVE = "direct", "by find_tools", "once active"


@attrs.frozen(kw_only=True)
class ReachedTool:
    """A tool, `server/tool`, or a glob of an unlisted server, as an agent has it.

    `how` is `direct` (in the prompt from the start), `by find_tools`, or `once active` (a capability brings it).
    """

    tool: str
    how: str
    reasons: tuple[ReachStep, ...] = ()


@attrs.frozen(kw_only=True)
class ScopedEntity:
    """A capability or a skill that an agent may use. `boot`: active from the start."""

    name: str
    boot: bool = False
    reasons: tuple[ReachStep, ...] = ()


@attrs.frozen(kw_only=True)
class Excluded:
    """A pattern of tools that an agent may not have.

    `by` is `disallowedTools` of the agent's file, `deny` for a `[[deny]]`, or `exclude_tools` of a server that the
    agent could reach. `reason` is the text of a `[[deny]]`.
    """

    pattern: str
    by: str
    place: Place
    reason: str = ""


@attrs.frozen(kw_only=True)
class ScopeReport:
    """All that one agent may reach, and why, without octoc's own tools and the host's."""

    name: str
    areas: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    tools: tuple[ReachedTool, ...] = ()
    capabilities: tuple[ScopedEntity, ...] = ()
    skills: tuple[ScopedEntity, ...] = ()
    offers: tuple[str, ...] = ()
    """`resource server/URI`, `template server/URI-template` and `prompt server/name`."""
    excluded: tuple[Excluded, ...] = ()
    settings: AgentSettings = attrs.field(factory=AgentSettings)


def scope_of(build: Build, agent: str) -> ScopeReport:
    """Return the scope of one agent. Raises: KeyError when the bundle has no such agent."""
    return _scope(build, agent, _limits(build))


def scopes_of_agents(build: Build) -> Iterator[ScopeReport]:
    """Yield the scope of each agent, in the order of the registries."""
    limits = _limits(build)
    for agent in build.scoped.registries:
        yield _scope(build, agent, limits)


def _scope(build: Build, agent: str, limits: CeilingScopes) -> ScopeReport:
    registry = build.scoped.registries[agent]
    scopes = limits.scopes
    member = scopes.members.get(agent, AgentPlacement())
    ceiling = limits.ceiling(agent)
    why = build.scoped.reasons.get(agent, {})
    tools = [
        ReachedTool(tool=str(build.scoped.tools[index].id), how=_how(index, registry), reasons=why.get(index, ()))
        for index in registry.tools
    ]
    direct = {(grant.server, glob) for grant in registry.unlisted_direct for glob in grant.globs}
    for server, glob in sorted(reached(registry).globs):
        how = DIRECT if (server, glob) in direct else DEFERRED if registry.proxy else ACTIVE
        tools.append(ReachedTool(tool=f"{server}/{glob}", how=how, reasons=_of_glob(server, glob, ceiling)))
    return ScopeReport(
        name=agent,
        areas=member.areas,
        tenants=member.tenants,
        tools=tuple(tools),
        capabilities=tuple(
            ScopedEntity(name=name, boot=name in registry.boot, reasons=_naming(agent, "capabilities", name, scopes))
            for name in sorted({*registry.capabilities, *registry.boot})
        ),
        skills=tuple(
            ScopedEntity(name=name, reasons=_naming(agent, "skills", name, scopes)) for name in registry.skills
        ),
        offers=tuple(f"{one.kind} {one.server}/{one.name}" for one in _offers(build, agent)),
        excluded=tuple(_excluded(build, agent, scopes)),
        settings=member.settings,
    )


def _offers(build: Build, agent: str) -> Iterator[Offer]:
    found = build.scoped.offers
    return (found.offers[number] for number in found.of(agent).offers)


def who_can(build: Build, tool: str) -> tuple[tuple[tuple[str, ReachedTool], ...], tuple[Diagnostic, ...]]:
    """Return (agent, tool) for each agent and each tool that it reaches and that `tool`, a name or pattern, matches.

    The second part has the findings for a `tool` without a match.
    """
    sink = DiagnosticSink()
    resolved = build.resolved
    lookup = NameLookup(
        servers={server.name: server for server in resolved.servers}, agents=(), capabilities=(), skills=(), sink=sink
    )
    asked = ToolSet.of(
        lookup.reach(Located(tool, Place(file="")), "the question"),
        {one.id: n for n, one in enumerate(build.scoped.tools)},
    )
    return tuple(_reaching(build, asked)), sink.diagnostics


def _reaching(build: Build, asked: ToolSet) -> Iterator[tuple[str, ReachedTool]]:
    names = {str(build.scoped.tools[index].id) for index in asked.numbers}
    limits = _limits(build)
    for agent, registry in build.scoped.registries.items():
        if not reached_of(registry, asked):
            continue
        for one in _scope(build, agent, limits).tools:
            server, _, glob = one.tool.partition("/")
            if one.tool in names or any(server == of and meet(glob, wanted) is not None for of, wanted in asked.globs):
                yield agent, one


def scopes_of(build: Build) -> Scopes:
    """Return the scopes of a workspace; without tables of scopes they give everything."""
    return build.resolved.scopes or Scopes(at=build.settings.place)


def way_of(reason: ReachStep) -> Sequence[ReachStep]:
    """Return the steps from the agent to the tool."""
    return (reason, *(() if reason.via is None else way_of(reason.via)))


def _limits(build: Build) -> CeilingScopes:
    return CeilingScopes.of(scopes_of(build), Fleet.of(build, build.scoped.tools))


def _excluded(build: Build, agent: str, scopes: Scopes) -> Iterator[Excluded]:
    resolved, registry = build.resolved, build.scoped.registries[agent]
    for one in resolved.agents:
        if one.name == agent:
            for entry in one.source.disallowed_tools:
                yield Excluded(pattern=entry.value, by="disallowedTools", place=entry.place)
    for deny in scopes.deny:
        if agent in deny.agents:
            for entry in (*deny.source.tools, *deny.source.resources, *deny.source.prompts):
                yield Excluded(pattern=entry.value, by="deny", place=entry.place, reason=deny.source.reason)
    named = {*registry.capabilities, *registry.reserved, *registry.boot}
    brought = {grant.server for one in resolved.capabilities if one.name in named for grant in one.grants}
    for server in resolved.servers:
        if server.open or agent in server.private_to or server.name in brought:
            for glob in server.exclude:
                yield Excluded(pattern=f"{server.name}/{glob}", by="exclude_tools", place=server.place)


def _how(index: int, registry: Registry) -> str:
    if index in registry.direct:
        return DIRECT
    return DEFERRED if registry.proxy else ACTIVE


def _of_glob(server: str, glob: str, ceiling: Ceiling) -> tuple[ReachStep, ...]:
    return tuple(
        way.reason
        for way in ceiling.ways
        if any(of == server and meet(glob, other) is not None for of, other in way.tools.globs)
    )


def _naming(agent: str, what: str, name: str, scopes: Scopes) -> tuple[ReachStep, ...]:
    """Return the grants that name a capability or a skill; under `allow` the profile is the reason."""
    if scopes.profile == "allow":
        return (ReachStep("profile", "allow", scopes.at),)
    return tuple(
        ReachStep("grant", entry.value, entry.place)
        for grant in granted_to(agent, scopes)
        for entry in getattr(grant.source, what)
        if glob_matches(entry.value, name)
    )
