"""The files of scopes of an Octopus export: one for each area, one for tenants, one for what is of no area."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Table

from octoc.compiler.migrate.export import Export, ExportedArea, ExportedGroup, ExportedItem
from octoc.compiler.migrate.notes import Notes
from octoc.compiler.migrate.servers import ServerPlan
from octoc.compiler.migrate.texts import ExtraField, Names, plain
from octoc.compiler.workspace.toml_text import add_comment, add_table, add_tables
from octoc.lists import name_list

_TENANTS, _GLOBAL = "tenants", "global"
_OFF = {"enabled": False}


def scope_files(export: Export, plan: ServerPlan, notes: Notes) -> dict[str, str]:
    """Return path -> text of the files of scopes, in the order of the export."""
    work = _Work(export=export, plan=plan, notes=notes)
    names = Names([_TENANTS, _GLOBAL])
    files = {}
    if export.tenants:
        files[_TENANTS] = _joined([work.tenant(tenant) for tenant in export.tenants.values()])
    for area in export.areas.values():
        files[names.take(area.name, within="area")] = _joined([work.area(area), *work.groups_of(area.id)])
    blocks = [*work.homeless(), *work.groups_of(None), *work.servers(), *work.switched_off()]
    if blocks:
        files[_GLOBAL] = _joined(blocks)
    return {f"scopes/{name}.toml": text for name, text in files.items()}


@attrs.define(kw_only=True)
class _Work:
    export: Export
    plan: ServerPlan
    notes: Notes
    homes: set[str] = attrs.field(factory=set)
    """Ids of agents that live in an area that was written before."""
    group_names: Names = attrs.field(factory=Names)

    def __attrs_post_init__(self) -> None:
        self.group_names = Names(group.name for group in self.export.groups.values())

    def tenant(self, tenant: ExportedItem) -> TOMLDocument:
        block = _block()
        if tenant.name != tenant.id:
            self.notes.add(f"tenant `{tenant.id}` is called `{tenant.name}`: hosts and tools get that name")
            add_comment(block, plain(f"Tenant {tenant.id} of Octopus"))
        table = add_table(block, ("tenants", tenant.name), self.what(tenant))
        self.keep(table, "tenant", tenant.label or tenant.id, tenant.extras)
        return block

    def what(self, thing: ExportedItem) -> dict[str, Any]:
        text = ": ".join(dict.fromkeys(text for text in (thing.label, thing.description) if text))
        return {**({"description": text} if text else {}), **({} if thing.is_active else _OFF)}

    def area(self, area: ExportedArea) -> TOMLDocument:
        values: dict[str, Any] = {}
        if area.tenant is not None:
            values["tenant"] = self.export.tenants[area.tenant].name
        if area.description:
            values["description"] = area.description
        values |= {} if area.is_active else _OFF
        values["agents"] = self.names([agent for agent in area.agents if agent not in self.homes])
        shared = [agent for agent in area.agents if agent in self.homes]
        if shared:
            values["shared"] = self.names(shared)
        self.homes.update(area.agents)
        if area.default is not None:
            values["default_agent"] = self.export.agents[area.default].name
        block = _block(f"Area {area.id} of Octopus: {area.label}")
        self.keep(add_table(block, ("areas", area.name), values), "area", area.label, area.extras)
        return block

    def groups_of(self, area: str | None) -> Iterable[TOMLDocument]:
        """Yield the tables of an area's groups, or of global ones, each with its grants."""
        for group in self.export.groups.values():
            if group.area == area:
                yield self.group(group)

    def group(self, group: ExportedGroup) -> TOMLDocument:
        own = [one for one in self.export.assignments if one.group == group.id]
        on = [one.agent for one in own if one.enabled]
        block = _block(f"Tool group {group.id} of Octopus: {group.label}")
        table: TOMLDocument | Table = block
        if not group.tools:
            self.notes.add(f"tool group `{group.name}` has no tools, and is a comment")
            given = ", ".join(self.names([one.agent for one in own]))
            add_comment(block, f"It has no tools{f', and was assigned to {given}' if given else ''}.")
        else:
            values: dict[str, Any] = {} if group.area is None else {"area": self.export.areas[group.area].name}
            if group.description:
                values["description"] = group.description
            values["tools"] = [self.plan.tools[tool] for tool in group.tools]
            if not on:
                values["enabled"] = tomlkit.item(False)
                values["enabled"].comment("no agent has it; octoc refuses a group that does nothing")
                self.notes.add(f"tool group `{group.name}` is not assigned to any agent, and is disabled")
            table = add_table(block, ("groups", group.name), values)
        self.keep(table, "tool group", group.label, group.extras)
        self.keep(table, "assignment", group.label, [extra for one in own for extra in one.extras])
        if group.tools:
            off = [one.agent for one in own if not one.enabled]
            add_tables(block, "grants", [*self.grant(group, on, enabled=True), *self.grant(group, off, enabled=False)])
        return block

    def grant(self, group: ExportedGroup, agents: Sequence[str], *, enabled: bool) -> list[dict[str, Any]]:
        area = None if group.area is None else self.export.areas[group.area]
        for agent in agents:
            if area is not None and enabled and agent not in area.agents:
                name = self.export.agents[agent].name
                self.notes.add(
                    f"agent `{name}` has tool group `{group.name}`, and is not in its area `{area.name}`: "
                    "Octopus lets that be, `octoc check` refuses it"
                )
        values = {"agents": self.names(agents), "groups": [group.name], **({} if enabled else _OFF)}
        return [values] if agents else []

    def homeless(self) -> Iterable[TOMLDocument]:
        """Yield an area for each tenant whose agents are in none: outside of areas all tenants would have them."""
        for tenant in self.export.tenants.values():
            left = [
                one.id for one in self.export.agents.values() if one.id not in self.homes and one.tenant == tenant.id
            ]
            if not left:
                continue
            name = Names(area.name for area in self.export.areas.values()).take(f"{tenant.name}-others")
            block = _block(
                f"Agents of tenant {tenant.id} in no area of Octopus, reached by their ids: they stay its own."
            )
            add_table(block, ("areas", name), {"tenant": tenant.name, "agents": self.names(left)})
            yield block
            self.notes.add(
                f"agents {name_list(self.names(left))} are in no area, and in `{name}` to stay their tenant's"
            )

    def servers(self) -> Iterable[TOMLDocument]:
        """Yield what each agent has of the servers that it registers: a group of its own, or a grant."""
        users: dict[str, set[str]] = {}
        for agent in self.export.agents.values():
            for server in agent.servers:
                users.setdefault(self.plan.name_of(server), set()).add(agent.id)
        for agent in self.export.agents.values():
            for server in agent.servers:
                name = self.plan.name_of(server)
                tools = [f"{name}/*"] if server.tools is None else [f"{name}/{tool}" for tool in server.tools]
                enabled = {} if server.enabled else _OFF
                block = _block(f"Server {server.label} of agent {agent.id} of Octopus: {agent.label}")
                self.keep(block, "server", server.label, server.extras)
                if not tools or name in self.plan.off:
                    why = (
                        "is switched off" if tools else "has an empty `toolFilter`, so the agent has none of its tools"
                    )
                    add_comment(block, plain(f"It {why}; tools: {', '.join(tools)}" if tools else f"It {why}."))
                    self.notes.add(f"server `{name}` of agent `{agent.name}` {why}, and is a comment")
                elif len(users[name]) == 1:
                    group = self.group_names.take(f"{agent.name}-{name}")
                    add_table(block, ("groups", group), {"agent": agent.name, "tools": tools, **enabled})
                else:
                    add_tables(block, "grants", [{"agents": [agent.name], "tools": tools, **enabled}])
                yield block

    def switched_off(self) -> Iterable[TOMLDocument]:
        for agent in self.export.agents.values():
            if not agent.is_active:
                block = _block()
                add_table(block, ("overrides", agent.name), _OFF)
                yield block

    def names(self, agents: Iterable[str]) -> list[str]:
        return [self.export.agents[agent].name for agent in agents]

    def keep(self, to: TOMLDocument | Table, what: str, label: str, extras: Iterable[ExtraField]) -> None:
        """Add the fields that have no place as comments, and note them."""
        add_comment(to, self.notes.kept(what, label, extras))


def _block(comment: str = "") -> TOMLDocument:
    block = tomlkit.document()
    add_comment(block, plain(comment))
    return block


def _joined(blocks: Iterable[TOMLDocument]) -> str:
    return "\n".join(tomlkit.dumps(block) for block in blocks)
