"""The files of scopes of an Octopus export: one for each area, one for tenants, one for what is of no area."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from octoc.compiler.migrate.export import Area, Export, Group, Named
from octoc.compiler.migrate.notes import Notes
from octoc.compiler.migrate.servers import ServerPlan
from octoc.compiler.migrate.texts import Names, comment, key, pair
from octoc.lists import name_list

_TENANTS, _GLOBAL = "tenants", "global"
_OFF = "enabled = false"


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

    def tenant(self, tenant: Named) -> list[str]:
        lines = []
        if tenant.name != tenant.id:
            self.notes.add(f"tenant `{tenant.id}` is called `{tenant.name}`: hosts and tools get that name")
            lines.append(comment(f"Tenant {tenant.id} of Octopus"))
        lines += [f"[tenants.{key(tenant.name)}]", *self.what(tenant)]
        return [*lines, *self.notes.kept("tenant", tenant.label or tenant.id, tenant.extras)]

    def what(self, thing: Named) -> list[str]:
        said = ": ".join(dict.fromkeys(text for text in (thing.label, thing.description) if text))
        return [*([pair("description", said)] if said else []), *([] if thing.is_active else [_OFF])]

    def area(self, area: Area) -> list[str]:
        lines = [comment(f"Area {area.id} of Octopus: {area.label}"), f"[areas.{key(area.name)}]"]
        if area.tenant is not None:
            lines.append(pair("tenant", self.export.tenants[area.tenant].name))
        if area.description:
            lines.append(pair("description", area.description))
        if not area.is_active:
            lines.append(_OFF)
        lines.append(pair("agents", self.names([agent for agent in area.agents if agent not in self.homes])))
        shared = [agent for agent in area.agents if agent in self.homes]
        if shared:
            lines.append(pair("shared", self.names(shared)))
        self.homes.update(area.agents)
        if area.default is not None:
            lines.append(pair("default_agent", self.export.agents[area.default].name))
        return [*lines, *self.notes.kept("area", area.label, area.extras)]

    def groups_of(self, area: str | None) -> Iterable[list[str]]:
        """Yield the tables of an area's groups, or of global ones, each with its grants."""
        for group in self.export.groups.values():
            if group.area == area:
                yield self.group(group)

    def group(self, group: Group) -> list[str]:
        own = [one for one in self.export.assignments if one.group == group.id]
        on = [one.agent for one in own if one.enabled]
        lines = [comment(f"Tool group {group.id} of Octopus: {group.label}")]
        if not group.tools:
            self.notes.add(f"tool group `{group.name}` has no tools, and is a comment")
            given = ", ".join(self.names([one.agent for one in own]))
            lines.append(comment(f"It has no tools{f', and was assigned to {given}' if given else ''}."))
        else:
            lines += [f"[groups.{key(group.name)}]"]
            if group.area is not None:
                lines.append(pair("area", self.export.areas[group.area].name))
            if group.description:
                lines.append(pair("description", group.description))
            lines.append(pair("tools", [self.plan.tools[tool] for tool in group.tools]))
            if not on:
                lines.append(f"{_OFF}  # no agent has it; octoc refuses a group that does nothing")
                self.notes.add(f"tool group `{group.name}` is not assigned to any agent, and is disabled")
        lines += self.notes.kept("tool group", group.label, group.extras)
        lines += self.notes.kept("assignment", group.label, [extra for one in own for extra in one.extras])
        if group.tools:
            lines += self.grant(group, on, enabled=True)
            lines += self.grant(group, [one.agent for one in own if not one.enabled], enabled=False)
        return lines

    def grant(self, group: Group, agents: Sequence[str], *, enabled: bool) -> list[str]:
        if not agents:
            return []
        area = None if group.area is None else self.export.areas[group.area]
        for agent in agents:
            if area is not None and enabled and agent not in area.agents:
                name = self.export.agents[agent].name
                self.notes.add(
                    f"agent `{name}` has tool group `{group.name}`, and is not in its area `{area.name}`: "
                    "Octopus lets that be, `octoc check` refuses it"
                )
        lines = ["", "[[grants]]", pair("agents", self.names(agents)), pair("groups", [group.name])]
        return lines if enabled else [*lines, _OFF]

    def homeless(self) -> Iterable[list[str]]:
        """Yield an area for each tenant whose agents are in none: outside of areas all tenants would have them."""
        for tenant in self.export.tenants.values():
            left = [
                one.id for one in self.export.agents.values() if one.id not in self.homes and one.tenant == tenant.id
            ]
            if not left:
                continue
            name = Names(area.name for area in self.export.areas.values()).take(f"{tenant.name}-others")
            yield [
                comment(
                    f"Agents of tenant {tenant.id} in no area of Octopus, reached by their ids: here they stay its own."
                ),
                f"[areas.{key(name)}]",
                pair("tenant", tenant.name),
                pair("agents", self.names(left)),
            ]
            self.notes.add(f"agents {_said(self.names(left))} are in no area, and in `{name}` to stay their tenant's")

    def servers(self) -> Iterable[list[str]]:
        """Yield what each agent has of the servers that it registers: a group of its own, or a grant."""
        users: dict[str, set[str]] = {}
        for agent in self.export.agents.values():
            for server in agent.servers:
                users.setdefault(self.plan.name_of(server), set()).add(agent.id)
        for agent in self.export.agents.values():
            for server in agent.servers:
                name = self.plan.name_of(server)
                tools = [f"{name}/*"] if server.tools is None else [f"{name}/{tool}" for tool in server.tools]
                lines = [comment(f"Server {server.label} of agent {agent.id} of Octopus: {agent.label}")]
                lines += self.notes.kept("server", server.label, server.extras)
                if not tools or name in self.plan.off:
                    why = (
                        "is switched off" if tools else "has an empty `toolFilter`, so the agent has none of its tools"
                    )
                    lines.append(
                        comment(f"It {why}.") if not tools else comment(f"It {why}; tools: {', '.join(tools)}")
                    )
                    self.notes.add(f"server `{name}` of agent `{agent.name}` {why}, and is a comment")
                    yield lines
                elif len(users[name]) == 1:
                    group = self.group_names.take(f"{agent.name}-{name}")
                    lines += [f"[groups.{key(group)}]", pair("agent", agent.name), pair("tools", tools)]
                    yield [*lines, *([] if server.enabled else [_OFF])]
                else:
                    lines += ["[[grants]]", pair("agents", [agent.name]), pair("tools", tools)]
                    yield [*lines, *([] if server.enabled else [_OFF])]

    def switched_off(self) -> Iterable[list[str]]:
        for agent in self.export.agents.values():
            if not agent.is_active:
                yield [f"[overrides.{key(agent.name)}]", _OFF]

    def names(self, agents: Iterable[str]) -> list[str]:
        return [self.export.agents[agent].name for agent in agents]


def _joined(blocks: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def _said(names: Sequence[str]) -> str:
    return name_list(names)
