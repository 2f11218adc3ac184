"""Tenants and areas as the bundle has them: those in effect, without what only the build needs."""

from __future__ import annotations

from collections.abc import Collection

from octoc.bundle.model import AreaEntry, TenantEntry
from octoc.compiler.model.scopes import Scopes
from octoc.compiler.resolve.scopes.tuning import quota_of


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
        )
        for name, area in sorted((scopes.areas if scopes else {}).items())
    )


def _default(area: str, agent: str | None, scopes: Scopes | None, agents: Collection[str]) -> str | None:
    if agent is None or scopes is None or agent not in agents or agent not in scopes.members:
        return None
    return agent if area in scopes.members[agent].areas else None
