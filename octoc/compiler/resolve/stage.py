"""Stage resolve: look up the things that names mean, and report unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TypeVar

import attrs

from octoc.compiler.context import Context
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.lock.packages import with_locked_versions
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Agent, Resolved, ServerGrant, Skill
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import AgentSource, SkillSource
from octoc.compiler.resolve.builtin_servers import builtin_servers, builtin_snapshots
from octoc.compiler.resolve.capabilities import ChosenProvider, choose_providers, report_shadowed, resolve_capability
from octoc.compiler.resolve.catalog import CapabilityCatalog, known_capabilities
from octoc.compiler.resolve.definitions import definitions, dialect_of_agent
from octoc.compiler.resolve.deps import dependencies
from octoc.compiler.resolve.fixtures import names_of, resolve_fixtures
from octoc.compiler.resolve.oidc import resolve_serve
from octoc.compiler.resolve.patterns import EVERY, grant_of, resolve_patterns
from octoc.compiler.resolve.scopes.scopes import resolve_scopes
from octoc.compiler.resolve.servers import OwnedDefinition, Servers, owner_of_file, resolve_servers
from octoc.compiler.resolve.texts import resolve_expansions, resolve_needs
from octoc.compiler.resolve.tuning import tuned
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import DUPLICATE_AGENT, SHADOWED, UNKNOWN_SERVER
from octoc.diagnostics.suggest import did_you_mean
from octoc.names import SUPERVISOR

Named = TypeVar("Named", AgentSource, SkillSource)


def resolve(build: Build, context: Context) -> Build:
    """Choose providers, merge equal servers, look every reference up, and fill `resolved`."""
    return attrs.evolve(build, resolved=resolved_of(build, context))


def resolved_of(build: Build, context: Context) -> Resolved:
    """Return the things that the sources name, and report unknown names."""
    settings, sources, sink = build.settings, build.sources, context.sink
    catalog = CapabilityCatalog(
        choices=choose_providers(sources.capabilities, settings, sink),
        taps=tuple(tap.name for tap in build.discovered.taps),
    )
    is_ordered = not build.discovered.is_scanned
    agent_sources = _first_of_each(sources.agents, "agent", sink, is_ordered=is_ordered)
    skill_sources = _first_of_each(sources.skills, "skill", sink, is_ordered=is_ordered)
    chosen = catalog.used(
        [(one.value, agent.tap) for agent in agent_sources for one in agent.capabilities]
        + [(one.value, None) for skill in skill_sources for one in skill.capabilities]
    )
    report_shadowed(sources.capabilities, chosen, catalog.winners(), sink)
    snapshots = (*builtin_snapshots(settings, context), *sources.snapshots)
    servers = resolve_servers(
        _definitions(build, catalog, chosen, agent_sources), snapshots, sink, settings, context.root
    )
    defined = (definition.source.name for definition in definitions(sources))
    servers = tuned(servers, defined, settings, sink)
    servers = attrs.evolve(servers, all=with_locked_versions(servers.all, context))
    allowed = frozenset(settings.routing.allow_high_trust)
    capabilities = {
        (name := catalog.name_of(choice)): resolve_capability(choice, name, servers, allowed, sink) for choice in chosen
    }
    agents = [_agent(source, catalog, servers, sink) for source in agent_sources]
    if SUPERVISOR not in {agent.name for agent in agents}:
        agents.append(Agent(source=_supervisor(settings)))
    skills = [
        Skill(
            source=source,
            capabilities=known_capabilities(source.capabilities, catalog, f"skill `{source.name}`", sink),
            validate=None if source.folder is None else build.documents.scripts.get((source.folder.folder, "validate")),
        )
        for source in skill_sources
    ]
    scopes = resolve_scopes(
        build, agents, servers.all, capabilities, (source.name for source in skill_sources), context
    )
    return Resolved(
        scopes=scopes,
        serve=resolve_serve(settings.serve, (agent.name for agent in agents), scopes, sink),
        servers=servers.all,
        capabilities=tuple(capabilities[name] for name in sorted(capabilities)),
        agents=tuple(sorted(agents, key=lambda agent: agent.name)),
        skills=tuple(sorted(skills, key=lambda skill: skill.source.name)),
        dependencies=dependencies(chosen, build),
        needs=resolve_needs(sources.needs, sink),
        expansions=resolve_expansions(sources.expansions, capabilities, sink),
        fixtures=resolve_fixtures(sources.fixtures, names_of(capabilities.values(), agents, servers.all), sink),
    )


def _definitions(
    build: Build, catalog: CapabilityCatalog, chosen: Iterable[ChosenProvider], agents: Iterable[AgentSource]
) -> Iterable[OwnedDefinition]:
    """Return every definition by precedence: octoc.toml, MCP files, the workspace's agents, then tap by tap."""
    settings = build.settings
    yield from (
        OwnedDefinition(source=server, owner=owner_of_file(settings.place.file), open=True)
        for server in builtin_servers(settings)
    )
    for file in build.sources.mcp_files:
        owner = owner_of_file(file.place.file)
        yield from (
            OwnedDefinition(source=server, owner=owner, dialect=file.dialect, open=True) for server in file.servers
        )
    precedence = {tap.name: tap.precedence for tap in build.discovered.taps}
    in_taps: list[tuple[int, str, OwnedDefinition]] = []
    for agent in agents:
        for server in agent.inline_servers:
            definition = OwnedDefinition(
                source=server,
                owner=agent.name,
                dialect=dialect_of_agent(agent),
                private_to=agent.name,
                tap=agent.tap or "",
            )
            if agent.tap is None:
                yield definition
            else:
                in_taps.append((precedence[agent.tap], agent.place.file, definition))
    for choice in chosen:
        in_taps.extend(
            (
                precedence[choice.source.tap],
                choice.provider.place.file,
                OwnedDefinition(source=s, owner=catalog.name_of(choice), dialect=OCTOMIND, tap=choice.source.tap),
            )
            for s in choice.provider.servers
        )
    yield from (definition for _, _, definition in sorted(in_taps, key=lambda entry: entry[:2]))


def _agent(source: AgentSource, catalog: CapabilityCatalog, servers: Servers, sink: DiagnosticSink) -> Agent:
    return Agent(
        source=source,
        capabilities=known_capabilities(source.capabilities, catalog, f"agent `{source.name}`", sink, source.tap),
        own_grants=_own_grants(source, servers, sink),
    )


def _own_grants(source: AgentSource, servers: Servers, sink: DiagnosticSink) -> tuple[ServerGrant, ...]:
    by_name = servers.by_name
    own = {
        server.name: by_name[servers.name_at[server.place]]
        for server in source.inline_servers
        if server.place in servers.name_at
    }
    for reference in source.server_refs:
        shared = by_name.get(reference.value)
        if reference.value in own:
            continue
        if shared is None or shared.private:
            near = did_you_mean(reference.value, by_name)
            sink.report(
                UNKNOWN_SERVER,
                f"agent `{source.name}` refers to server `{reference.value}`, which is not defined",
                at=reference.place,
                help=near,
                severity=(Severity.WARNING if near else Severity.INFO) if source.kind == "claude" else None,
                fix=renamed(reference.place, reference.value, by_name),
            )
        else:
            own[reference.value] = shared
    if source.kind == "octomind":
        return resolve_patterns(source.allowed_tools, own, source.place, sink)
    return tuple(grant_of(server, EVERY) for server in own.values())


def _first_of_each(sources: Iterable[Named], what: str, sink: DiagnosticSink, *, is_ordered: bool) -> tuple[Named, ...]:
    """Return the first source of each name; report a later one as shadowed, or as an error in the same folder."""
    first: dict[str, Named] = {}
    for source in sources:
        winner = first.setdefault(source.name, source)
        if winner is source:
            continue
        if _is_agent_of_one_folder(source, winner):
            _report_doubled(source, winner, sink)
        elif is_ordered or source.tap:
            related = {"this one is used": winner.place}
            sink.report(SHADOWED, f"{what} `{source.name}` is shadowed", at=source.place, related=related)
    return tuple(first.values())


def _report_doubled(source: Named, winner: Named, sink: DiagnosticSink) -> None:
    """Report two agents of one name in the file that has another name: it is likely the copy."""
    is_copy = _has_its_name(source) and not _has_its_name(winner)
    at, other = (winner, source) if is_copy else (source, winner)
    sink.report(
        DUPLICATE_AGENT,
        f"two agents of this folder are called `{source.name}`; the later is left out",
        at=at.place.child("name"),
        related={"the other is here" if is_copy else "this one is used": other.place},
        help="give one of them another name",
    )


def _has_its_name(source: Named) -> bool:
    return PurePosixPath(source.place.file).name.partition(".")[0].replace("_", "-") == source.name.replace("_", "-")


def _is_agent_of_one_folder(source: AgentSource | SkillSource, other: AgentSource | SkillSource) -> bool:
    return isinstance(source, AgentSource) and isinstance(other, AgentSource) and source.folder == other.folder


def _supervisor(settings: WorkspaceSettings) -> AgentSource:
    return AgentSource(
        name=SUPERVISOR,
        kind="octoc",
        type="supervisor",
        place=settings.place,
        description="Sees every tool of the workspace through find_tools and call_mcp_tool.",
    )
