"""An Octopus export whose check has passed, as what it means: each thing once, by a name that octoc takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.compiler.check.octopus import ID_KEYS, Listed, id_of, id_text, listed, named, tenants_of
from octoc.compiler.check.schemas import schema_of
from octoc.compiler.inputs.octopus_export import OCTOPUS_EXPORT
from octoc.compiler.migrate.texts import ExtraField, Names, extras_of, slug
from octoc.compiler.model.documents import kept


@attrs.frozen(kw_only=True)
class ExportedItem:
    """What all things of an export have. `name` is octoc's, `label` Octopus's; `id` is as the export has it."""

    id: str
    name: str
    label: str
    description: str = ""
    is_active: bool = True
    extras: tuple[ExtraField, ...] = ()


@attrs.frozen(kw_only=True)
class ExportedTenant(ExportedItem):
    """A tenant: hosts and tools get its id, so the id is its name in octoc, too."""


@attrs.frozen(kw_only=True)
class ExportedArea(ExportedItem):
    """An area; `agents` and `default` are ids, the agents in the order of the export, each once."""

    tenant: str | None = None
    agents: tuple[str, ...] = ()
    default: str | None = None


@attrs.frozen(kw_only=True)
class ExportedGroup(ExportedItem):
    """A tool group, with the id of its area; None is global."""

    area: str | None = None
    tools: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ExportedServer:
    """A tool server as one agent has it. `tools` None is all of them."""

    label: str
    url: str
    credential: int
    timeout_ms: float | None
    enabled: bool
    tools: tuple[str, ...] | None
    extras: tuple[ExtraField, ...] = ()


@attrs.frozen(kw_only=True)
class ExportedAgent(ExportedItem):
    """An agent; `tenant` is the id of its own, or of the only one there is."""

    tenant: str | None = None
    prompt: str = ""
    model: str = ""
    servers: tuple[ExportedServer, ...] = ()


@attrs.frozen(kw_only=True)
class ExportedAssignment:
    """Which agent has which group, by id."""

    agent: str
    group: str
    enabled: bool
    extras: tuple[ExtraField, ...] = ()


@attrs.frozen(kw_only=True)
class Export:
    """All of an export, by id and in its order; `extras` are lists that octoc does not know."""

    tenants: Mapping[str, ExportedTenant]
    areas: Mapping[str, ExportedArea]
    groups: Mapping[str, ExportedGroup]
    agents: Mapping[str, ExportedAgent]
    assignments: tuple[ExportedAssignment, ...]
    extras: tuple[ExtraField, ...] = ()


def read_export(values: Mapping[str, Any]) -> Export:
    """Return what a checked export says."""
    ids = tenants_of(values)
    only = ids[0] if len(ids) == 1 else None
    areas = _areas(values, only)
    return Export(
        tenants=_tenants(values, ids),
        areas=areas,
        groups=_groups(values, areas),
        agents=_agents(values, only),
        assignments=_assignments(values),
        extras=extras_of(values, schema_of(OCTOPUS_EXPORT)["properties"]),
    )


def _tenants(values: Mapping[str, Any], ids: Iterable[str]) -> Mapping[str, ExportedTenant]:
    names = Names()
    found = {}
    said = {_id(entity, "tenants"): entity for entity in listed(values, "tenants")}
    for tenant in ids:
        entity = said.get(tenant)
        # Exactly the id where octoc takes it: tools are sent it, and know it.
        name = names.take(tenant if slug(tenant) == tenant.lower() else slug(tenant) or "tenant")
        shared = {} if entity is None else _shared(entity, "tenant")
        found[tenant] = ExportedTenant(id=tenant, name=name, **{"label": "", **shared})
    return found


def _areas(values: Mapping[str, Any], only: str | None) -> dict[str, ExportedArea]:
    names = Names()
    found = {}
    for entity in listed(values, "areas"):
        shared, number = _shared(entity, "area"), _id(entity, "areas")
        refs = [Listed(values=ref, path=()) if isinstance(ref, Mapping) else ref for ref in _list(entity, "agents")]
        agents = [_id(ref, "agents") if isinstance(ref, Listed) else id_text(ref) for ref in refs]
        said = [extra for ref in refs if isinstance(ref, Listed) for extra in _extras(ref.values, "agent_ref")]
        shared["extras"] = (*shared["extras"], *said)
        found[number] = ExportedArea(
            id=number,
            name=names.take(slug(shared["label"]) or f"area-{slug(number)}"),
            tenant=named(entity.values, "tenantId") or only,
            agents=tuple(dict.fromkeys(agents)),
            default=named(entity.values, "defaultAgentId"),
            **shared,
        )
    return found


def _groups(values: Mapping[str, Any], areas: Mapping[str, ExportedArea]) -> dict[str, ExportedGroup]:
    names = Names()
    found = {}
    for entity in listed(values, "toolGroups"):
        shared, number = _shared(entity, "group"), _id(entity, "toolGroups")
        area = named(entity.values, "areaId") or entity.under
        within = areas[area].name if area is not None else "global"
        found[number] = ExportedGroup(
            id=number,
            name=names.take(slug(shared["label"]) or f"group-{slug(number)}", within=within),
            area=area,
            tools=tuple(dict.fromkeys(tool.strip() for tool in _list(entity, "toolNames"))),
            **shared,
        )
    return found


def _agents(values: Mapping[str, Any], only: str | None) -> dict[str, ExportedAgent]:
    names = Names()
    found = {}
    for entity in listed(values, "agents"):
        shared, number = _shared(entity, "agent"), _id(entity, "agents")
        found[number] = ExportedAgent(
            id=number,
            name=names.take(slug(shared["label"], strict=True) or f"agent-{slug(number)}"),
            tenant=named(entity.values, "tenantId") or only,
            prompt=_text(entity, "systemPrompt"),
            model=_text(entity, "model"),
            servers=tuple(_server(server) for server in _list(entity, "mcpServers")),
            **shared,
        )
    return found


def _server(values: Mapping[str, Any]) -> ExportedServer:
    tools = values.get("toolFilter")
    return ExportedServer(
        label=values["name"].strip(),
        url=values["baseUrl"].strip().rstrip("/"),
        credential=int(values.get("credentialId") or 0),
        timeout_ms=values.get("timeoutMs"),
        enabled=values.get("enabled", True),
        tools=None if tools is None else tuple(dict.fromkeys(tool.strip() for _, tool in kept(tools))),
        extras=_extras(values, "server"),
    )


def _assignments(values: Mapping[str, Any]) -> tuple[ExportedAssignment, ...]:
    found: dict[tuple[str, str], ExportedAssignment] = {}
    for entity in listed(values, "assignments"):
        agent = named(entity.values, "agentId") or entity.under or ""
        group = id_text(entity.values["toolGroupId"])
        enabled = entity.values.get("enabled", True)
        extras = _extras(entity.values, "assignment")
        before = found.get((agent, group))
        extras = extras if before is None else (*before.extras, *extras)
        found[agent, group] = ExportedAssignment(agent=agent, group=group, enabled=enabled, extras=extras)
    return tuple(found.values())


def _shared(entity: Listed, what: str) -> dict[str, Any]:
    return {
        "label": _text(entity, "name"),
        "description": _text(entity, "description"),
        "is_active": entity.values.get("isActive", True),
        "extras": _extras(entity.values, what),
    }


def _extras(values: Mapping[str, Any], what: str) -> tuple[ExtraField, ...]:
    return extras_of(values, schema_of(OCTOPUS_EXPORT)["$defs"][what]["properties"])


def _id(entity: Listed, name: str) -> str:
    found = id_of(entity, name)
    assert found is not None, ID_KEYS[name]  # noqa: S101  # the check has looked
    return found[1]


def _list(entity: Listed, key: str) -> list[Any]:
    return [value for _, value in kept(entity.values.get(key) or ())]


def _text(entity: Listed, key: str) -> str:
    return (entity.values.get(key) or "").strip()
