"""Tenants, areas and groups as the bundle has them: those in effect, without what only the build needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from octoc.bundle.model import Grant, ToolGroupEntry
from octoc.bundle.organisation import AreaEntry, TenantEntry
from octoc.compiler.model.scopes import Scopes, ToolGroup
from octoc.compiler.resolve.scopes.tuning import quota_of
from octoc.names import ToolId


def tenants_of(scopes: Scopes | None) -> tuple[TenantEntry, ...]:
    """Return the tenants, by name."""
    return tuple(
        TenantEntry(name=name, description=tenant.description, quota=quota_of(tenant.quota))
        for name, tenant in sorted((scopes.tenants if scopes else {}).items())
    )


def areas_of(scopes: Scopes | None, agents: Collection[str]) -> tuple[AreaEntry, ...]:
    """Return the areas, by name. `agents` are those of the bundle: no other agent is a default."""
    return tuple(
        AreaEntry(
            name=name,
            tenant=None if area.tenant is None else area.tenant.value,
            description=area.description,
            default_agent=_default(
                name, None if area.default_agent is None else area.default_agent.value, scopes, agents
            ),
            file=area.place.file,
        )
        for name, area in sorted((scopes.areas if scopes else {}).items())
    )


def _default(area: str, agent: str | None, scopes: Scopes | None, agents: Collection[str]) -> str | None:
    if agent is None or scopes is None or agent not in agents or agent not in scopes.members:
        return None
    return agent if area in scopes.members[agent].areas else None


def tool_groups_of(
    scopes: Scopes | None, agents: Collection[str], numbers: Mapping[ToolId, int]
) -> tuple[ToolGroupEntry, ...]:
    """Return the groups that agents of the bundle have, by name. `numbers` are those of the bundle's tools."""
    entries = []
    for group in sorted(scopes.groups, key=lambda one: one.name) if scopes else ():
        source = group.source
        own = set() if source.agent is None or group.broken else {source.agent.value}
        having = sorted((own | granted_to(group, scopes)) & set(agents)) if scopes and source.enabled else []
        if having:
            area = None if source.area is None else source.area.value
            grants = tuple(_grants(group, numbers))
            entries.append(
                ToolGroupEntry(
                    name=group.name, description=source.description, area=area, agents=tuple(having), grants=grants
                )
            )
    return tuple(entries)


def granted_to(group: ToolGroup, scopes: Scopes) -> set[str]:
    """Return the agents that enabled grants give a group."""
    named = (
        grant for grant in scopes.grants if grant.source.enabled and any(group is one for one in grant.groups.values())
    )
    return {agent for grant in named for agent in grant.agents if _may_have(agent, group, scopes)}


def _may_have(agent: str, group: ToolGroup, scopes: Scopes) -> bool:
    source = group.source
    if group.broken or agent in scopes.left_out:
        return False
    if source.agent is not None:
        return agent == source.agent.value
    return source.area is None or (agent in scopes.members and source.area.value in scopes.members[agent].areas)


def _grants(group: ToolGroup, numbers: Mapping[ToolId, int]) -> list[Grant]:
    reach = group.reach
    servers = sorted({*(tool.server for tool in reach.tools), *(server for server, _ in reach.globs)})
    return [
        Grant(
            server=server,
            globs=tuple(sorted(glob for name, glob in reach.globs if name == server)),
            tools=tuple(sorted(numbers[tool] for tool in reach.tools if tool.server == server and tool in numbers)),
        )
        for server in servers
    ]
