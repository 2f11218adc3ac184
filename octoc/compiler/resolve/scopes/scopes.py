"""Look up the names in tables of scopes: members of areas, groups, grants, denials. See docs/scopes.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octoc.choices import ScopeProfile
from octoc.compiler.context import Context
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent, Server
from octoc.compiler.model.scopes import (
    Deny,
    DenySource,
    GrantSource,
    GroupSource,
    ScopeGrant,
    Scopes,
    ScopeTables,
    ToolGroup,
    joined,
)
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.resolve.definitions import definitions
from octoc.compiler.resolve.own_gateway import is_own_gateway
from octoc.compiler.resolve.scopes.members import Membership, membership
from octoc.compiler.resolve.scopes.names import NameLookup
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

STRICTEST: ScopeProfile = "deny"


def resolve_scopes(
    build: Build,
    agents: Iterable[Agent],
    servers: Iterable[Server],
    capabilities: Iterable[str],
    skills: Iterable[str],
    context: Context,
) -> Scopes:
    """Look up all names in tables of scopes, and report unknown ones.

    An unsound table grants nothing and withholds all that it names.
    """
    settings, sources, sink = build.settings, build.sources, context.sink
    tables = sources.scopes
    lookup = NameLookup(
        servers={server.name: server for server in servers},
        # Dictionaries keep the order and find a name fast.
        agents=dict.fromkeys(agent.name for agent in agents),
        capabilities=dict.fromkeys(capabilities),
        skills=dict.fromkeys(skills),
        sink=sink,
        disabled=frozenset(
            each.source.name
            for each in definitions(sources)
            if each.source.disabled or is_own_gateway(each.source, context.root)
        ),
    )
    at, profile = _profile(settings, tables, len(sources.agents), sink)
    members = membership(tables, settings, lookup)
    groups = _groups(tables, members, lookup)
    closed = (
        sources.scopes_unsound or members.doubtful or (profile == "allow" and any(group.unread for group in groups))
    )
    if closed:
        sink.report(
            UNREAD_SCOPES,
            "a table of scopes could not be read, so the bundle has no agent"
            if sources.scopes_unsound
            else "a table of scopes withholds an unknown thing, so the bundle has no agent",
            at=settings.place,
            help="fix the errors in octoc.toml and in the files of scopes",
        )
    return Scopes(
        at=at,
        profile=profile,
        tenants=members.tenants,
        areas=members.areas,
        groups=groups,
        grants=tuple(_grant(grant, {g.name: g for g in reversed(groups)}, lookup) for grant in tables.grants),
        deny=tuple(_deny(deny, lookup) for deny in tables.deny),
        members=members.members,
        left_out=frozenset(lookup.agents) if closed else members.left_out,
        closed=closed,
    )


def _profile(
    settings: WorkspaceSettings, tables: ScopeTables, agents: int, sink: DiagnosticSink
) -> tuple[Place, ScopeProfile]:
    """Return the profile and its place. Without a written profile it is `allow`, and `deny` in production."""
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


def _groups(tables: ScopeTables, members: Membership, lookup: NameLookup) -> tuple[ToolGroup, ...]:
    unique = Unique.of(tables.groups, "group", lookup.sink)
    return tuple(_group(source, members, lookup, is_second=source in unique.later) for source in tables.groups)


def _group(source: GroupSource, members: Membership, lookup: NameLookup, *, is_second: bool) -> ToolGroup:
    area, agent, what = source.area, source.agent, f"group `{source.name}`"
    broken = is_second
    if area is not None and area.value not in members.all_areas:
        broken = True
        lookup.sink.report(
            UNKNOWN_SCOPE,
            f"{what} is of area `{area.value}`, which no table defines; no agent has its tools",
            at=area.place,
            help=did_you_mean(area.value, members.all_areas) or f"add `[areas.{area.value}]` with its `agents`",
            fix=renamed(area.place, area.value, members.all_areas),
        )
    if agent is not None and agent.value not in lookup.agents:
        broken = True
        lookup.sink.report(
            UNKNOWN_AGENT,
            f"{what} is of agent `{agent.value}`, which is not defined; no agent has its tools",
            at=agent.place,
            help="a group is of one agent: name an area for several"
            if agent.value.endswith("*")
            else did_you_mean(agent.value, lookup.agents),
            fix=renamed(agent.place, agent.value, lookup.agents),
        )
    tools = {entry: lookup.reach(entry, what) for entry in source.tools}
    # An entry without a match withholds its whole server, since the tool that it means is unknown.
    unmet = [] if source.is_global else [lookup.whole_server(entry) for entry, reach in tools.items() if not reach]
    offers = lookup.offers(source, what)
    unmet += [] if source.is_global else lookup.doubtful_offers(source, offers)
    return ToolGroup(
        source=source,
        tools={**tools, **offers},
        broken=broken,
        doubtful=joined(reach for reach in unmet if reach is not None),
        unread=None in unmet,
    )


def _grant(source: GrantSource, groups: Mapping[str, ToolGroup], lookup: NameLookup) -> ScopeGrant:
    found: dict[Located[str], ToolGroup] = {}
    for entry in source.groups:
        if entry.value in groups:
            found[entry] = groups[entry.value]
            continue
        lookup.sink.report(
            UNKNOWN_SCOPE,
            f"a grant names group `{entry.value}`, which no table defines",
            at=entry.place,
            help=did_you_mean(entry.value, groups) or f"add `[groups.{entry.value}]` with its `tools`",
            fix=renamed(entry.place, entry.value, groups),
        )
    what = "a grant"
    grant = ScopeGrant(
        source=source,
        agents=_agents(source.agents, what, lookup),
        groups=found,
        tools={**{entry: lookup.reach(entry, what) for entry in source.tools}, **lookup.offers(source, what)},
        capabilities={
            entry: lookup.matched(entry, lookup.capabilities, UNKNOWN_CAPABILITY, what, "capability")
            for entry in source.capabilities
        },
        skills={entry: lookup.matched(entry, lookup.skills, UNKNOWN_SKILL, what, "skill") for entry in source.skills},
    )
    _check_empty(grant, lookup.sink)
    return grant


def _deny(source: DenySource, lookup: NameLookup) -> Deny:
    what = "a `[[deny]]`"
    tools = {entry: lookup.reach(entry, what) for entry in source.tools}
    offers = lookup.offers(source, what)
    # A misspelled tool denies all tools of its server, so that a mistake never gives a tool; likewise an offer.
    doubtful = [lookup.whole_server(entry) for entry, reach in tools.items() if not reach]
    doubtful += lookup.doubtful_offers(source, offers)
    reach = joined([*tools.values(), *offers.values(), *(one for one in doubtful if one is not None)])
    return Deny(source=source, agents=_agents(source.agents, what, lookup), reach=reach)


def _check_empty(grant: ScopeGrant, sink: DiagnosticSink) -> None:
    """Report a grant that gives nothing, unless another mistake in it is reported."""
    source = grant.source
    given = (
        *source.groups, *source.tools, *source.resources, *source.prompts, *source.capabilities, *source.skills
    )  # fmt: skip
    off = [group for group in grant.groups.values() if not group.source.enabled]
    if not source.enabled:
        return
    if not source.agents:
        help_ = "name the agents in `agents`"
        sink.report(EMPTY_GRANT, "a grant has no agent", at=source.place, help=help_)
    elif not given:
        sink.report(
            EMPTY_GRANT,
            "a grant gives nothing",
            at=source.place,
            help="name what it gives, as in `groups`, `tools` or `resources`, or delete it",
        )
    elif off and len(off) == len(given):
        sink.report(
            EMPTY_GRANT,
            f"a grant gives nothing: {', '.join(f'group `{group.name}`' for group in off)} is switched off",
            at=source.groups[0].place,
            related={f"`{group.name}` is switched off here": group.source.place.child("enabled") for group in off},
            help="switch one of them on, or the grant off with `enabled = false`",
        )


def _agents(entries: Iterable[Located[str]], what: str, lookup: NameLookup) -> frozenset[str]:
    return frozenset(
        agent for entry in entries for agent in lookup.matched(entry, lookup.agents, UNKNOWN_AGENT, what, "agent")
    )
