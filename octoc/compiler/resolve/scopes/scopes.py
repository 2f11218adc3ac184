"""Tables of scopes with their names looked up: who is where, and who is granted what. See docs/scopes.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent, Server
from octoc.compiler.model.scopes import (
    Deny,
    DenySource,
    GrantSource,
    Group,
    GroupSource,
    ScopeGrant,
    Scopes,
    ScopeTables,
    joined,
)
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.resolve.definitions import definitions
from octoc.compiler.resolve.scopes.members import Membership, membership
from octoc.compiler.resolve.scopes.names import Known
from octoc.compiler.resolve.scopes.twice import Unique
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.resolve import (
    EMPTY_GRANT,
    UNKNOWN_AGENT,
    UNKNOWN_CAPABILITY,
    UNKNOWN_SCOPE,
    UNKNOWN_SKILL,
    UNNAMED_PROFILE,
    UNREAD_SCOPES,
)
from octoc.diagnostics.suggest import did_you_mean

STRICTEST = "deny"


def resolve_scopes(
    build: Build,
    agents: Iterable[Agent],
    servers: Iterable[Server],
    capabilities: Iterable[str],
    skills: Iterable[str],
    sink: DiagnosticSink,
) -> Scopes:
    """Look up all names in tables of scopes, and report those that mean nothing.

    What is unsound gives nothing and withholds all that it names.
    """
    settings, sources = build.settings, build.sources
    tables = sources.scopes
    known = Known(
        servers={server.name: server for server in servers},
        # Looked up by name again and again, listed in their order.
        agents=dict.fromkeys(agent.name for agent in agents),
        capabilities=dict.fromkeys(capabilities),
        skills=dict.fromkeys(skills),
        sink=sink,
        disabled=frozenset(each.source.name for each in definitions(sources) if each.source.disabled),
    )
    at, profile = _profile(settings, tables, len(sources.agents), sink)
    members = membership(tables, settings, known)
    groups = _groups(tables, members, known)
    closed = (
        sources.scopes_unsound or members.doubtful or (profile == "allow" and any(group.unread for group in groups))
    )
    if closed:
        sink.report(
            UNREAD_SCOPES,
            "a table of scopes could not be read, so no agent is in the bundle until it can"
            if sources.scopes_unsound
            else "a table of scopes withholds what is not there, so no agent is in the bundle until it is mended",
            at=settings.place,
            help="mend the errors in octoc.toml and in the files of scopes",
        )
    return Scopes(
        at=at,
        profile=profile,
        tenants=members.tenants,
        areas=members.areas,
        groups=groups,
        grants=tuple(_grant(grant, {g.name: g for g in reversed(groups)}, known) for grant in tables.grants),
        deny=tuple(_deny(deny, known) for deny in tables.deny),
        members=members.members,
        left_out=frozenset(known.agents) if closed else members.left_out,
        closed=closed,
    )


def _profile(settings: WorkspaceSettings, tables: ScopeTables, agents: int, sink: DiagnosticSink) -> tuple[Place, str]:
    """Return where the profile is written, and which it is: `allow` unless one is written or production wants one."""
    written = settings.scopes.profile
    if written is not None:
        return settings.place.child("scopes", "profile"), written
    if settings.mode != "production" or not (tables or agents > 1):
        return settings.place, "allow"
    what = "it has tables of scopes" if tables else f"it has {agents} agents"
    sink.report(
        UNNAMED_PROFILE,
        f"the workspace is for production and does not say what agents may use that nothing grants them: {what}",
        at=settings.place.child("workspace", "mode"),
        help='add `[scopes]` with `profile = "deny"`, or with `profile = "allow"` to give all that nothing withholds',
    )
    return settings.place, STRICTEST


def _groups(tables: ScopeTables, members: Membership, known: Known) -> tuple[Group, ...]:
    unique = Unique.of(tables.groups, "group", known.sink)
    return tuple(_group(source, members, known, is_second=source in unique.later) for source in tables.groups)


def _group(source: GroupSource, members: Membership, known: Known, *, is_second: bool) -> Group:
    area, agent, what = source.area, source.agent, f"group `{source.name}`"
    broken = is_second
    if area is not None and area.value not in members.all_areas:
        broken = True
        known.sink.report(
            UNKNOWN_SCOPE,
            f"{what} is of area `{area.value}`, which no table defines; no agent has its tools",
            at=area.place,
            help=did_you_mean(area.value, members.all_areas) or f"add `[areas.{area.value}]` with its `agents`",
            fix=renamed(area.place, area.value, members.all_areas),
        )
    if agent is not None and agent.value not in known.agents:
        broken = True
        known.sink.report(
            UNKNOWN_AGENT,
            f"{what} is of agent `{agent.value}`, which is not defined; no agent has its tools",
            at=agent.place,
            help="a group is of one agent: name an area for several"
            if agent.value.endswith("*")
            else did_you_mean(agent.value, known.agents),
            fix=renamed(agent.place, agent.value, known.agents),
        )
    tools = {entry: known.reach(entry, what) for entry in source.tools}
    # Of what an entry withholds that matches nothing no more is known than its server.
    unmet = [] if source.is_global else [known.whole_server(entry) for entry, reach in tools.items() if not reach]
    return Group(
        source=source,
        tools=tools,
        broken=broken,
        doubtful=joined(reach for reach in unmet if reach is not None),
        unread=None in unmet,
    )


def _grant(source: GrantSource, groups: Mapping[str, Group], known: Known) -> ScopeGrant:
    found: dict[Located[str], Group] = {}
    for entry in source.groups:
        if entry.value in groups:
            found[entry] = groups[entry.value]
            continue
        known.sink.report(
            UNKNOWN_SCOPE,
            f"a grant names group `{entry.value}`, which no table defines",
            at=entry.place,
            help=did_you_mean(entry.value, groups) or f"add `[groups.{entry.value}]` with its `tools`",
            fix=renamed(entry.place, entry.value, groups),
        )
    what = "a grant"
    grant = ScopeGrant(
        source=source,
        agents=_agents(source.agents, what, known),
        groups=found,
        tools={entry: known.reach(entry, what) for entry in source.tools},
        capabilities={
            entry: known.matched(entry, known.capabilities, UNKNOWN_CAPABILITY, what, "capability")
            for entry in source.capabilities
        },
        skills={entry: known.matched(entry, known.skills, UNKNOWN_SKILL, what, "skill") for entry in source.skills},
    )
    _check_empty(grant, known.sink)
    return grant


def _deny(source: DenySource, known: Known) -> Deny:
    what = "a `[[deny]]`"
    tools = {entry: known.reach(entry, what) for entry in source.tools}
    # A misspelt tool denies its server's: a mistake never widens.
    doubtful = (known.whole_server(entry) for entry, reach in tools.items() if not reach)
    reach = joined([*tools.values(), *(one for one in doubtful if one is not None)])
    return Deny(source=source, agents=_agents(source.agents, what, known), reach=reach)


def _check_empty(grant: ScopeGrant, sink: DiagnosticSink) -> None:
    """Report what gives nothing and has no mistake in it that says so already."""
    source = grant.source
    given = (*source.groups, *source.tools, *source.capabilities, *source.skills)
    off = [group for group in grant.groups.values() if not group.source.enabled]
    if not source.enabled:
        return
    if not source.agents:
        help_ = "name those who are granted it in `agents`"
        sink.report(EMPTY_GRANT, "a grant has no agent", at=source.place, help=help_)
    elif not given:
        sink.report(
            EMPTY_GRANT,
            "a grant gives nothing",
            at=source.place,
            help="name what it gives in `groups`, `tools`, `capabilities` or `skills`, or delete it",
        )
    elif off and len(off) == len(given):
        sink.report(
            EMPTY_GRANT,
            f"a grant gives nothing: {', '.join(f'group `{group.name}`' for group in off)} is switched off",
            at=source.groups[0].place,
            related={f"`{group.name}` is switched off here": group.source.place.child("enabled") for group in off},
            help="switch one of them on, or the grant off with `enabled = false`",
        )


def _agents(entries: Iterable[Located[str]], what: str, known: Known) -> frozenset[str]:
    return frozenset(
        agent for entry in entries for agent in known.matched(entry, known.agents, UNKNOWN_AGENT, what, "agent")
    )
