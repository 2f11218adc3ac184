"""Tables of scopes as what they say, each name with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from octoc.compiler.model.documents import kept
from octoc.compiler.model.located import Located
from octoc.compiler.model.scopes import (
    AreaSource,
    DenySource,
    GrantSource,
    GroupSource,
    Number,
    OverrideSource,
    ScopeTables,
    TenantSource,
    Tuning,
)
from octoc.compiler.structure.lists import texts
from octoc.diagnostics.model import Place

Entry = tuple[str, Mapping[str, Any], Place]


def scope_tables(values: Mapping[str, Any], place: Place) -> ScopeTables:
    """Return the tables in `values`, of a file of scopes or of octoc.toml; `place` is that of the file."""
    return ScopeTables(
        tenants=tuple(
            TenantSource(
                name=name,
                place=at,
                description=_text(tenant, "description"),
                enabled=tenant.get("enabled", True),
                quota=numbers(tenant.get("quota", {})),
            )
            for name, tenant, at in _entries(values, "tenants", place)
        ),
        areas=tuple(_area(*entry) for entry in _entries(values, "areas", place)),
        groups=tuple(
            GroupSource(
                name=name,
                place=at,
                area=_one(group, "area", at),
                agent=_one(group, "agent", at),
                description=_text(group, "description"),
                tools=texts(group, "tools", at),
                enabled=group.get("enabled", True),
            )
            for name, group, at in _entries(values, "groups", place)
        ),
        grants=tuple(
            GrantSource(
                place=at,
                agents=_some(grant, "agents", at),
                groups=texts(grant, "groups", at),
                tools=texts(grant, "tools", at),
                capabilities=texts(grant, "capabilities", at),
                skills=texts(grant, "skills", at),
                enabled=grant.get("enabled", True),
            )
            for grant, at in _listed(values, "grants", place)
        ),
        overrides=tuple(
            OverrideSource(glob=glob.strip(), place=at, enabled=override.get("enabled"), tuning=_tuning(override))
            for glob, override, at in _entries(values, "overrides", place)
        ),
        deny=tuple(
            DenySource(
                place=at,
                agents=_some(deny, "agents", at),
                tools=_some(deny, "tools", at),
                reason=_text(deny, "reason"),
            )
            for deny, at in _listed(values, "deny", place)
        ),
    )


def numbers(values: Mapping[str, Any]) -> Mapping[str, Number]:
    """Return a quota with one form for each number: JSON Schema takes 4.0 for a whole one, and 60 for seconds."""
    return {key: float(value) if key == "window" else int(value) for key, value in values.items()}


def _area(name: str, area: Mapping[str, Any], at: Place) -> AreaSource:
    return AreaSource(
        name=name,
        place=at,
        tenant=_one(area, "tenant", at),
        description=_text(area, "description"),
        enabled=area.get("enabled", True),
        agents=texts(area, "agents", at),
        shared=texts(area, "shared", at),
        default_agent=_one(area, "default_agent", at),
        defaults=_tuning(area.get("defaults", {})),
    )


def _tuning(values: Mapping[str, Any]) -> Tuning:
    return Tuning(
        results={key: _plain(value) for key, value in values.get("results", {}).items()},
        routing={key: _plain(value) for key, value in values.get("routing", {}).items()},
        quota=numbers(values.get("quota", {})),
    )


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | str) else int(value)


def _entries(values: Mapping[str, Any], table: str, place: Place) -> Iterator[Entry]:
    for name, entry in values.get(table, {}).items():
        yield name, entry, place.child(table, name)


def _listed(values: Mapping[str, Any], table: str, place: Place) -> Iterator[tuple[Mapping[str, Any], Place]]:
    for index, entry in kept(values.get(table, ())):
        yield entry, place.child(table, index)


def _one(values: Mapping[str, Any], key: str, place: Place) -> Located[str] | None:
    return Located(values[key].strip(), place.child(key)) if key in values else None


def _some(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...]:
    """Return a list of names, or the one name that stands there by itself."""
    if isinstance(values.get(key), str):
        return (Located(values[key].strip(), place.child(key)),)
    return texts(values, key, place)


def _text(values: Mapping[str, Any], key: str) -> str:
    return str(values.get(key, "")).strip()
