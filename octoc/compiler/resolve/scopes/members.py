"""Find the areas, tenants and own settings of each agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.located import Located
from octoc.compiler.model.scopes import AgentPlacement, AreaSource, OverrideSource, ScopeTables, TenantSource
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.resolve.scopes.names import NameLookup
from octoc.compiler.resolve.scopes.tuning import settings_of
from octoc.compiler.resolve.scopes.twice import Unique
from octoc.diagnostics.model import Place
from octoc.diagnostics.rules.resolve import (
    AGENT_IN_TWO_AREAS,
    AGENT_LEFT_OUT,
    DEFAULT_AGENT_OUTSIDE,
    UNKNOWN_AGENT,
    UNKNOWN_SCOPE,
)
from octoc.diagnostics.suggest import did_you_mean
from octoc.names import glob_matches


@attrs.frozen(kw_only=True)
class Membership:
    """Areas and tenants in effect, the membership of each agent, and the agents that the bundle leaves out."""

    tenants: Mapping[str, TenantSource]
    areas: Mapping[str, AreaSource]
    all_areas: Mapping[str, AreaSource]
    members: Mapping[str, AgentPlacement]
    left_out: frozenset[str]
    doubtful: bool
    """Whether an area with a tenant, or an override that switches off, names no agent.

    The agent that it should name would be open to all users.
    """


@attrs.define(kw_only=True)
class _Work:
    lookup: NameLookup
    tenants: Unique[TenantSource]
    areas: Unique[AreaSource]
    unusable: set[str]
    """Areas with an unknown tenant."""
    left_out: set[str] = attrs.field(factory=set)
    doubtful: bool = False

    def is_on(self, area: AreaSource) -> bool:
        tenant = None if area.tenant is None else self.tenants.first.get(area.tenant.value)
        return area.enabled and (tenant is None or tenant.enabled)


def membership(tables: ScopeTables, settings: WorkspaceSettings, lookup: NameLookup) -> Membership:
    """Look up areas, tenants and overrides.

    The bundle leaves out an agent with an unclear membership (two areas, an unknown tenant, a repeated table), so that
    a mistake does not open it to all users.
    """
    tenants = Unique.of(tables.tenants, "tenant", lookup.sink)
    areas = Unique.of(tables.areas, "area", lookup.sink)
    work = _Work(lookup=lookup, tenants=tenants, areas=areas, unusable=set())
    for area in tables.areas:
        _check_tenant(area, work)
    inside = _inside(tables.areas, work)
    members: dict[str, AgentPlacement] = {}
    for agent in sorted(lookup.agents):
        found = [areas.first[name] for name in inside.get(agent, ())]
        override_of_none = _switched_off(agent, tables.overrides)
        if override_of_none is not None:
            _leave_out(agent, "an override", override_of_none, work)
            continue
        on = [area for area in found if work.is_on(area)]
        if found and not on:
            _leave_out(agent, "every area of it", found[0].place, work)
            continue
        whose = {area.tenant.value for area in on if area.tenant is not None}
        before = [area for area in found if area.tenant is not None]
        if before and not whose:
            # Otherwise switching a tenant's area off would open the agent to all users.
            _leave_out(agent, "the area of its tenant", before[0].place, work)
            continue
        own = settings_of(agent, on[0] if on else None, tables.overrides, settings)
        member = AgentPlacement(areas=tuple(area.name for area in on), tenants=tuple(sorted(whose)), settings=own)
        if member != AgentPlacement():
            members[agent] = member
    for override in Unique.of(tables.overrides, "override", lookup.sink, name=lambda one: one.glob).later:
        work.left_out.update(agent for agent in lookup.agents if glob_matches(override.glob, agent))
    for override in tables.overrides:
        glob = Located(override.glob, override.place.key())
        if not lookup.matched(glob, lookup.agents, UNKNOWN_AGENT, "an override", "agent"):
            work.doubtful |= override.enabled is False
    on_areas = {name: area for name, area in areas.first.items() if work.is_on(area) and name not in work.unusable}
    for area in areas.first.values():
        _check_default(area, inside, work)
    return Membership(
        tenants={name: tenant for name, tenant in tenants.first.items() if tenant.enabled},
        areas=on_areas,
        all_areas=areas.first,
        members={agent: member for agent, member in members.items() if agent not in work.left_out},
        left_out=frozenset(work.left_out),
        doubtful=work.doubtful,
    )


def _check_tenant(area: AreaSource, work: _Work) -> None:
    if area.tenant is None or area.tenant.value in work.tenants.first:
        return
    work.unusable.add(area.name)
    name = area.tenant.value
    work.lookup.sink.report(
        UNKNOWN_SCOPE,
        f"area `{area.name}` is of tenant `{name}`, which no table defines; its agents are left out",
        at=area.tenant.place,
        help=did_you_mean(name, work.tenants.first) or f"add `[tenants.{name}]`",
        fix=renamed(area.tenant.place, name, work.tenants.first),
    )


def _inside(areas: Iterable[AreaSource], work: _Work) -> dict[str, tuple[str, ...]]:
    """Return agent -> names of its areas, its own area first; without agents of an unclear membership."""
    lookup = work.lookup
    homes: dict[str, dict[str, Place]] = {}
    shared: dict[str, dict[str, Place]] = {}
    for area in areas:
        is_lost = area.name in work.unusable or area in work.areas.later
        for entries, into in ((area.shared, shared), (area.agents, homes)):
            for entry in entries:
                found = lookup.matched(entry, lookup.agents, UNKNOWN_AGENT, f"area `{area.name}`", "agent")
                work.doubtful |= not found and area.tenant is not None
                for agent in found:
                    if is_lost:
                        work.left_out.add(agent)
                    else:
                        into.setdefault(agent, {}).setdefault(area.name, entry.place)
    inside: dict[str, tuple[str, ...]] = {}
    for agent in sorted(homes.keys() | shared.keys()):
        lives, visits = homes.get(agent, {}), shared.get(agent, {})
        only = [name for name in lives if name not in visits]
        if len(only) > 1:
            work.left_out.add(agent)
            first, second = only[:2]
            lookup.sink.report(
                AGENT_IN_TWO_AREAS,
                f"agent `{agent}` lives in area `{first}` and in area `{second}`; it is left out",
                at=lives[second],
                related={f"in `{first}` by this": lives[first]},
                help=f"let it live in one of them, and add it to `shared` of the other: "
                f'`[areas.{second}] shared = ["{agent}"]`',
            )
            continue
        inside[agent] = tuple(dict.fromkeys([*only, *lives, *visits]))
    return inside


def _switched_off(agent: str, overrides: Iterable[OverrideSource]) -> Place | None:
    """Return the place that switches an agent off. The longest matching glob with `enabled` decides."""
    matching = [one for one in overrides if one.enabled is not None and glob_matches(one.glob, agent)]
    longest = max(matching, key=lambda one: len(one.glob), default=None)
    return None if longest is None or longest.enabled else longest.place.child("enabled")


def _leave_out(agent: str, why: str, at: Place, work: _Work) -> None:
    work.left_out.add(agent)
    work.lookup.sink.report(AGENT_LEFT_OUT, f"agent `{agent}` is not in the bundle: {why} is switched off", at=at)


def _check_default(area: AreaSource, inside: Mapping[str, tuple[str, ...]], work: _Work) -> None:
    default, lookup = area.default_agent, work.lookup
    if default is None or area.name in inside.get(default.value, ()):
        return
    if default.value not in inside and default.value in work.left_out:
        return  # its unclear membership is reported already
    if default.value not in lookup.agents:
        lookup.matched(default, lookup.agents, UNKNOWN_AGENT, f"area `{area.name}`", "agent")
        return
    members = [agent for agent, areas in inside.items() if area.name in areas]
    lookup.sink.report(
        DEFAULT_AGENT_OUTSIDE,
        f"`{default.value}` is the default agent of area `{area.name}`, and is not in it",
        at=default.place,
        related={"the area's agents": area.place.child("agents") if area.agents else area.place},
        help=did_you_mean(default.value, members) or "add it to `agents`, or name one of them",
    )
