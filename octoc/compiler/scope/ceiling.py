"""The most that one agent may have, and why: its grants under `deny`, all that is not withheld under `allow`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from octoc.compiler.model.resolved import Server, ServerGrant
from octoc.compiler.model.scopes import ReachStep, ScopeGrant, Scopes, ToolGroup
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.globs import Globs, common
from octoc.compiler.scope.owners import OwnedGroup, Owners
from octoc.compiler.scope.tools import ToolSet, union


@attrs.frozen
class CeilingReason:
    """A reason why an agent may have tools."""

    reason: ReachStep
    tools: ToolSet


@attrs.frozen(kw_only=True)
class Ceiling:
    """The most that an agent may have. None means all `capabilities` or `skills`; `ways` are the reasons."""

    tools: ToolSet
    capabilities: frozenset[str] | None = None
    skills: frozenset[str] | None = None
    ways: tuple[CeilingReason, ...] = ()


@attrs.frozen(kw_only=True)
class CeilingScopes:
    """The scopes of a workspace, prepared to make ceilings."""

    scopes: Scopes
    owners: Owners
    fleet: Fleet
    everything: ToolSet
    brought: Mapping[str, ToolSet]
    """Capability -> all its tools."""
    given: Mapping[int, tuple[CeilingReason, ...]]
    """Identity of a grant object -> its tools and those of its capabilities, which all its agents have."""
    denied: tuple[ToolSet, ...]
    """The tools of each `[[deny]]`."""
    owned: ToolSet
    """The tools that a group withholds from any agent."""
    by_group: Mapping[int, OwnedGroup]
    """Identity of a group object -> its tools."""

    @classmethod
    def of(cls, scopes: Scopes, fleet: Fleet) -> CeilingScopes:
        """Prepare the limits of a fleet."""
        unlisted = frozenset((server.name, "*") for server in fleet.servers.values() if not server.listed)
        owners = Owners.of(scopes, fleet.index)
        brought = {name: tools_of(capability.grants, fleet) for name, capability in fleet.capabilities.items()}
        return cls(
            scopes=scopes,
            owners=owners,
            fleet=fleet,
            everything=ToolSet(frozenset(fleet.index.values()), unlisted),
            brought=brought,
            given={id(grant): tuple(_given(grant, fleet, brought)) for grant in scopes.grants},
            denied=tuple(ToolSet.of(deny.reach, fleet.index) for deny in scopes.deny),
            owned=union(one.withheld for one in owners.groups),
            by_group={id(one.group): one for one in owners.groups},
        )

    def ceiling(self, agent: str) -> Ceiling:
        """Return the most that an agent may have."""
        withheld = self.owners.withheld(agent)
        if self.scopes.profile == "deny":
            ways = tuple(self.granted(agent))
            mine = granted_to(agent, self.scopes)
            return Ceiling(
                tools=self.allowed(agent, union(way.tools for way in ways)),
                capabilities=frozenset(
                    name for grant in mine for names in grant.capabilities.values() for name in names
                ),
                skills=frozenset(name for grant in mine for names in grant.skills.values() for name in names),
                ways=ways,
            )
        given = self.owners.given(agent)
        by_grant = self.fleet.by_grant
        left = self.everything.numbers - withheld.numbers
        if by_grant:
            left -= by_grant - union(way.tools for way in self.granted(agent)).numbers
        # If a group withholds a part of an unlisted server, only the globs that a group names remain.
        touched = {server for server, _ in withheld.globs}
        whole = frozenset((server, "*") for server, _ in self.everything.globs if server not in touched)
        parts = frozenset((server, glob) for server, glob in given.globs if server in touched)
        return Ceiling(tools=ToolSet(left, whole | parts), ways=tuple(self._open(agent)))

    def allowed(self, agent: str, tools: ToolSet) -> ToolSet:
        """Return the `tools` that no group withholds from the agent."""
        # Tools that a group of the agent names remain, also if another group withholds more.
        kept = ToolSet(frozenset(), common(tools.globs, self.owners.given(agent).globs))
        return tools.without(self.owners.withheld(agent)) | kept

    def granted(self, agent: str) -> Iterator[CeilingReason]:
        """Yield what grants, and the agent's own groups, give it."""
        areas = self.owners.areas_of(agent)
        for one in self.owners.groups:
            if one.group.source.agent is not None and one.gives_to(agent, areas):
                yield CeilingReason(_of_group(one.group), one.tools)
        for grant in granted_to(agent, self.scopes):
            for entry, group in grant.groups.items():
                one = self.by_group[id(group)]
                if one.gives_to(agent, areas):
                    yield CeilingReason(ReachStep("grant", entry.value, entry.place, _of_group(group)), one.tools)
            yield from self.given[id(grant)]

    def _open(self, agent: str) -> Iterator[CeilingReason]:
        """Yield the reasons under `allow`: the agent's own groups and areas, then the profile for all other tools."""
        areas = self.owners.areas_of(agent)
        for one in self.owners.groups:
            if not one.gives_to(agent, areas):
                continue
            source = one.group.source
            reason = _of_group(one.group)
            if source.area is not None:
                area = self.scopes.areas.get(source.area.value)
                reason = ReachStep("area", source.area.value, area.place if area else source.area.place, reason)
            yield CeilingReason(reason, one.tools)
        rest = ToolSet(self.everything.numbers - self.owned.numbers, self.everything.globs)
        yield CeilingReason(ReachStep("profile", self.scopes.profile, self.scopes.at), rest)


def tools_of(grants: tuple[ServerGrant, ...], fleet: Fleet) -> ToolSet:
    """Return the tools of grants: numbers for listed servers, globs for other ones."""
    return ToolSet(
        frozenset(fleet.index[tool] for grant in grants for tool in grant.tools),
        unlisted_of(grants, fleet.servers),
    )


def unlisted_of(grants: tuple[ServerGrant, ...], servers: Mapping[str, Server]) -> Globs:
    """Return (server, glob) of the grants on unlisted servers."""
    return frozenset(
        (grant.server, glob) for grant in grants if not servers[grant.server].listed for glob in grant.globs
    )


def granted_to(agent: str, scopes: Scopes) -> tuple[ScopeGrant, ...]:
    """Return the enabled grants to an agent."""
    return tuple(grant for grant in scopes.grants if grant.source.enabled and agent in grant.agents)


def _given(grant: ScopeGrant, fleet: Fleet, brought: Mapping[str, ToolSet]) -> Iterator[CeilingReason]:
    for entry, reach in grant.tools.items():
        yield CeilingReason(ReachStep("grant", entry.value, entry.place), ToolSet.of(reach, fleet.index))
    for entry, names in grant.capabilities.items():
        for name in names:
            via = ReachStep("capability", name, fleet.capabilities[name].place)
            yield CeilingReason(ReachStep("grant", entry.value, entry.place, via), brought[name])


def _of_group(group: ToolGroup) -> ReachStep:
    return ReachStep("group", group.name, group.source.place)
