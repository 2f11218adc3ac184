"""What the schema of an Octopus export cannot say: each id is there once and leads somewhere, and whose tenant it is.

A tenant is a hard boundary in both systems, so nothing here guesses: what is not certain is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.compiler.check.inspection import FileInspection, dotted
from octoc.compiler.check.schemas import schema_of
from octoc.compiler.inputs.octopus_export import OCTOPUS_EXPORT
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import near_names
from octoc.lists import name_list

ID_KEYS: Mapping[str, tuple[str, ...]] = {
    "tenants": ("tenantId", "id"),
    "areas": ("areaId", "id"),
    "toolGroups": ("id", "toolGroupId"),
    "agents": ("agentId", "id"),
}
"""List of an export -> the keys that may hold the id of its entities; the first that is there counts."""
_DEFINITIONS = {
    "tenants": "tenant",
    "areas": "area",
    "toolGroups": "group",
    "agents": "agent",
    "assignments": "assignment",
}
_INNER = {"areas": ("agents", "agent_ref"), "agents": ("mcpServers", "server")}
"""Lists of an export, and the lists inside their entities, by the definitions of the schema."""
_ONE = {"tenants": "tenant", "areas": "area", "toolGroups": "tool group", "agents": "agent"}


@attrs.frozen(kw_only=True)
class Listed:
    """An entity of an export. `under` is the id that its list stands under where there is one list for each id."""

    values: Mapping[str, Any]
    path: KeyPath
    under: str | None = None


def listed(export: Mapping[str, Any], name: str) -> Iterator[Listed]:
    """Yield the entities of a list, or of an object of lists by id."""
    lists = export.get(name, ())
    if isinstance(lists, Mapping):
        for key, entries in lists.items():
            for index, values in kept(entries):
                yield Listed(values=values, path=(name, key, index), under=key.strip())
    else:
        yield from (Listed(values=values, path=(name, index)) for index, values in kept(lists))


def id_text(value: str | float) -> str:
    """Return an id as text: `7` and `"7"` are one, and so is 7.0, which JSON Schema calls a whole number."""
    return value.strip() if isinstance(value, str) else str(int(value))


def id_of(entity: Listed, name: str) -> tuple[str, str] | None:
    """Return the key that holds an entity's id, and the id; None where it has none."""
    for key in ID_KEYS[name]:
        if key in entity.values:
            return key, id_text(entity.values[key])
    return None


def named(values: Mapping[str, Any], key: str) -> str | None:
    """Return the id at `key`, None where there is none."""
    value = values.get(key)
    return None if value is None else id_text(value)


def check_export(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check an export whose schema is met."""
    work = _Check(values=values, inspection=inspection)
    work.check_spelling()
    for name in ID_KEYS:
        work.check_ids(name)
    work.check_areas()
    work.check_agents()
    work.check_groups()
    work.check_assignments()


@attrs.define(kw_only=True)
class _Check:
    values: Mapping[str, Any]
    inspection: FileInspection
    paths: dict[str, dict[str, KeyPath]] = attrs.field(factory=dict)
    """List -> id -> the path of its entity."""
    homes: dict[str, list[tuple[str, KeyPath]]] = attrs.field(factory=dict)
    """Agent -> tenant of each area that it is in, and where the area says so."""

    def check_spelling(self) -> None:
        """Report keys that are known ones in another spelling: without `area_id` a group would belong to all areas."""
        schema = schema_of(OCTOPUS_EXPORT)
        self.spelled(self.values, (), schema["properties"])
        for name, what in _DEFINITIONS.items():
            for entity in listed(self.values, name):
                self.spelled(entity.values, entity.path, schema["$defs"][what]["properties"])
                key, inner = _INNER.get(name, ("", ""))
                for index, part in kept(entity.values.get(key) or ()):
                    if isinstance(part, Mapping):
                        self.spelled(part, (*entity.path, key, index), schema["$defs"][inner]["properties"])

    def spelled(self, values: Mapping[str, Any], path: KeyPath, known: Mapping[str, Any]) -> None:
        by_fold = {_fold(key): key for key in known}
        for key in values:
            meant = by_fold.get(_fold(key))
            if meant is not None and meant != key:
                message = f"`{dotted((*path, key))}` is not what Octopus calls it"
                self.report(rules.UNKNOWN_KEY, message, (*path, key), f"rename it to `{meant}`")

    def check_ids(self, name: str) -> None:
        known = self.paths.setdefault(name, {})
        for entity in listed(self.values, name):
            found = id_of(entity, name)
            if found is None:
                message = f"`{dotted(entity.path)}` has no `{ID_KEYS[name][0]}`"
                self.report(rules.MISSING_KEY, message, entity.path, f"add the id of the {_ONE[name]}")
                continue
            key, text = found
            for other in ID_KEYS[name]:
                if other in entity.values and id_text(entity.values[other]) != text:
                    message = f"`{dotted(entity.path)}` has two ids: `{key}` and `{other}` differ"
                    self.report(rules.UNEXPECTED_VALUE, message, (*entity.path, other), "delete one of them")
            if text in known:
                self.inspection.report(
                    rules.REPEATED_NAME,
                    f"{_ONE[name]} `{text}` is there twice",
                    (*entity.path, key),
                    cut=(),
                    related={"the first is here": known[text]},
                    help="delete one of them",
                )
            else:
                known[text] = (*entity.path, key)

    def check_areas(self) -> None:
        for area in listed(self.values, "areas"):
            tenant = self.tenant_of(area, "area")
            members = set()
            for index, ref in kept(area.values.get("agents", ())):
                path = (*area.path, "agents", index)
                at = Listed(values=ref, path=path) if isinstance(ref, Mapping) else None
                if at is None:
                    agent = id_text(ref)
                else:
                    found = id_of(at, "agents")
                    if found is None:
                        message = f"`{dotted(path)}` has no `agentId`"
                        self.report(rules.MISSING_KEY, message, path, "add the agent's id")
                        continue
                    agent = found[1]
                if self.leads("agents", agent, path):
                    members.add(agent)
                    if tenant is not None:
                        self.homes.setdefault(agent, []).append((tenant, path))
            default = named(area.values, "defaultAgentId")
            if default is not None and default not in members:
                message = f"`{dotted((*area.path, 'defaultAgentId'))}` is agent `{default}`, which is not in the area"
                self.report(
                    rules.UNEXPECTED_VALUE,
                    message,
                    (*area.path, "defaultAgentId"),
                    "add it to the area's `agents`, or name one of them",
                )

    def check_agents(self) -> None:
        for agent in listed(self.values, "agents"):
            if "\0" in (agent.values.get("systemPrompt") or ""):
                message = f"`{dotted((*agent.path, 'systemPrompt'))}` has a NUL, expected text"
                self.report(rules.UNEXPECTED_VALUE, message, (*agent.path, "systemPrompt"), "delete it")
            found = id_of(agent, "agents")
            homes = [] if found is None else self.homes.get(found[1], [])
            for index, server in kept(agent.values.get("mcpServers", ())):
                path = (*agent.path, "mcpServers", index)
                self.no_patterns(server, path, "toolFilter")
                if _has_userinfo(server["baseUrl"]):
                    message = f"`{dotted((*path, 'baseUrl'))}` has a user or password, expected an address alone"
                    advice = "take it out, and name the credential by its `credentialId`"
                    self.report(rules.UNEXPECTED_VALUE, message, (*path, "baseUrl"), advice)
            own = named(agent.values, "tenantId")
            if own is None and not homes:
                self.tenant_of(agent, "agent")
            elif own is not None:
                self.leads("tenants", own, (*agent.path, "tenantId"))
            for tenant, path in homes:
                if own is not None and tenant != own:
                    self.inspection.report(
                        rules.UNEXPECTED_VALUE,
                        f"agent `{agent.values['name']}` is of tenant `{own}`, and in an area of tenant `{tenant}`",
                        (*agent.path, "tenantId"),
                        cut=(),
                        related={"the area has it here": path},
                        help="take it out of the area, or correct one of the two: a tenant's agents are its own",
                    )

    def check_groups(self) -> None:
        for group in listed(self.values, "toolGroups"):
            self.no_patterns(group.values, group.path, "toolNames")
            area = named(group.values, "areaId")
            path = (*group.path, "areaId") if area is not None else group.path[:2]
            if group.under is not None and area is not None and area != group.under:
                message = f"`{dotted(path)}` is `{area}`, and the group stands under area `{group.under}`"
                self.report(rules.UNEXPECTED_VALUE, message, path, "correct one of the two")
            elif group.under is not None or area is not None:
                self.leads("areas", area or group.under or "", path)

    def check_assignments(self) -> None:
        before: dict[tuple[str, str], tuple[bool, KeyPath]] = {}
        for one in listed(self.values, "assignments"):
            agent = named(one.values, "agentId") or one.under
            if agent is None:
                message = f"`{dotted(one.path)}` has no `agentId`"
                self.report(rules.MISSING_KEY, message, one.path, "add the id of the agent that has the group")
                continue
            if one.under is not None and agent != one.under:
                message = f"`{dotted(one.path)}` is of agent `{agent}`, and stands under agent `{one.under}`"
                self.report(rules.UNEXPECTED_VALUE, message, (*one.path, "agentId"), "correct one of the two")
            self.leads("agents", agent, (*one.path, "agentId") if "agentId" in one.values else one.path[:2])
            group = id_text(one.values["toolGroupId"])
            self.leads("toolGroups", group, (*one.path, "toolGroupId"))
            said = one.values.get("enabled", True)
            first, path = before.setdefault((agent, group), (said, one.path))
            if first is not said:
                self.inspection.report(
                    rules.REPEATED_NAME,
                    f"agent `{agent}` is assigned tool group `{group}` twice, once enabled and once not",
                    one.path,
                    cut=(),
                    related={"the other is here": path},
                    help="delete one of them",
                )

    def no_patterns(self, values: Mapping[str, Any], path: KeyPath, key: str) -> None:
        """Report names of tools that octoc would read as more than one tool."""
        for index, name in kept(values.get(key) or ()):
            if "*" in name:
                message = f"`{name}` is not a tool of Octopus: `*` has no meaning there, and matches any text in octoc"
                self.report(rules.UNEXPECTED_VALUE, message, (*path, key, index), "write out the tools that are meant")

    def tenant_of(self, entity: Listed, what: str) -> str | None:
        """Return the tenant of an entity; report where several are possible, since all of them would have it."""
        own = named(entity.values, "tenantId")
        if own is not None:
            return own if self.leads("tenants", own, (*entity.path, "tenantId")) else None
        tenants = tenants_of(self.values)
        if len(tenants) > 1:
            message = f"{what} `{entity.values['name']}` has no `tenantId`, and there are {len(tenants)} tenants"
            why = "" if what == "area" else ", or add the agent to an area"
            self.report(rules.MISSING_KEY, message, entity.path, f"add `tenantId`{why}")
        return tenants[0] if len(tenants) == 1 else None

    def leads(self, name: str, wanted: str, path: KeyPath) -> bool:
        """Tell whether an id leads to an entity, and report one that does not. Tenants need no list of their own."""
        known = self.paths[name]
        if wanted in known or (name == "tenants" and name not in self.values):
            return True
        near = near_names(wanted, known)
        hint = f"; near ids: {name_list(near)}" if near else ""
        self.report(
            rules.UNEXPECTED_VALUE,
            f"`{dotted(path)}` is `{wanted}`, and the export has no {_ONE[name]} of this id",
            path,
            f"add it to `{name}`, or correct the id{hint}",
        )
        return False

    def report(self, rule: Any, message: str, path: KeyPath, advice: str) -> None:
        self.inspection.report(rule, message, path, cut=(), help=advice)


def tenants_of(values: Mapping[str, Any]) -> list[str]:
    """Return the ids of an export's tenants: those in `tenants`, else all that its areas and agents name."""
    if "tenants" in values:
        found = [id_of(tenant, "tenants") for tenant in listed(values, "tenants")]
        return [one[1] for one in found if one is not None]
    entities = [entity for name in ("areas", "agents") for entity in listed(values, name)]
    return list(dict.fromkeys(one for entity in entities if (one := named(entity.values, "tenantId")) is not None))


def _fold(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _has_userinfo(url: str) -> bool:
    return "@" in url.partition("://")[2].partition("/")[0]
