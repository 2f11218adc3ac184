"""Owners of tools: what the groups of areas and agents withhold from all other agents."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import attrs

from octoc.compiler.model.scopes import AgentPlacement, Scopes, ToolGroup
from octoc.compiler.scope.globs import uncovered
from octoc.compiler.scope.tools import ToolSet, union
from octoc.names import ToolId


@attrs.frozen
class OwnedGroup:
    """A group and its tools. `withheld` are the tools that it withholds from other agents."""

    group: ToolGroup
    tools: ToolSet
    withheld: ToolSet

    def gives_to(self, agent: str, areas: Sequence[str]) -> bool:
        """Tell whether the agent may have the group: a global one, one of its areas, or its own."""
        source = self.group.source
        if self.group.broken or not source.enabled:
            return False
        if source.agent is not None:
            return source.agent.value == agent
        return source.area is None or source.area.value in areas


@attrs.define(kw_only=True)
class Owners:
    """All groups of a workspace, and the areas of its agents."""

    groups: tuple[OwnedGroup, ...]
    members: Mapping[str, AgentPlacement]
    _with_groups: frozenset[str] = frozenset()
    _known: dict[Hashable, tuple[ToolSet, ToolSet]] = attrs.field(factory=dict, repr=False, eq=False)

    @classmethod
    def of(cls, scopes: Scopes, index: Mapping[ToolId, int]) -> Owners:
        """Number the tools of all groups."""
        groups = tuple(
            OwnedGroup(group, ToolSet.of(group.reach, index), ToolSet.of(group.reach | group.doubtful, index))
            for group in scopes.groups
        )
        own = (group.source.agent for group in scopes.groups)
        with_groups = frozenset(agent.value for agent in own if agent is not None)
        return cls(groups=groups, members=scopes.members, with_groups=with_groups)

    def areas_of(self, agent: str) -> tuple[str, ...]:
        """Return the areas that an agent is in."""
        member = self.members.get(agent)
        return () if member is None else member.areas

    def standing(self, agent: str) -> Hashable:
        """Return a key that is equal for agents with the same tools: the same areas and no groups of their own."""
        return (frozenset(self.areas_of(agent)), agent if agent in self._with_groups else None)

    def given(self, agent: str) -> ToolSet:
        """Return the tools of all groups that the agent may have, granted or not."""
        return self._standing(agent)[0]

    def withheld(self, agent: str) -> ToolSet:
        """Return the tools that groups of other areas and agents withhold and that no group gives to the agent.

        A group that is switched off gives its tools to no agent and still withholds them, so that switching it off
        never gives a tool.
        """
        return self._standing(agent)[1]

    def owners(self, agent: str, tools: ToolSet) -> tuple[OwnedGroup, ...]:
        """Return the groups that withhold some of `tools` from the agent."""
        lost = self.withheld(agent) & tools
        return tuple(
            one for one in self.groups if _is_owned(one) and not self._gives(one, agent) and one.withheld & lost
        )

    def _gives(self, one: OwnedGroup, agent: str) -> bool:
        return one.gives_to(agent, self.areas_of(agent))

    def _standing(self, agent: str) -> tuple[ToolSet, ToolSet]:
        key = self.standing(agent)
        if key not in self._known:
            given = union(one.tools for one in self.groups if self._gives(one, agent))
            others = union(one.withheld for one in self.groups if _is_owned(one) and not self._gives(one, agent))
            withheld = ToolSet(others.numbers - given.numbers, uncovered(others.globs, given.globs))
            self._known[key] = (given, withheld)
        return self._known[key]


def _is_owned(one: OwnedGroup) -> bool:
    return one.group.broken or not one.group.source.is_global
