"""One agent's registry, by the distribution table of Octo and the capabilities of Octomind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from octoc.bundle.model import Grant, Registry
from octoc.choices import AgentRole
from octoc.compiler.model.resolved import Agent, Capability, ServerGrant
from octoc.compiler.resolve.patterns import EVERY, grant_of
from octoc.compiler.scope.exclusions import NOTHING, Exclusions, exclusions_of
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.hosts import role_of
from octoc.compiler.scope.selection import select_tools
from octoc.diagnostics.model import DiagnosticSink


@attrs.define
class Registries:
    """Makes the registries of agents, and shares the parts that several agents have."""

    fleet: Fleet
    _visible: dict[tuple[frozenset[str], AgentRole], tuple[ServerGrant, ...]] = attrs.field(factory=dict)
    """An agent's private servers and its role -> all that such an agent reaches."""
    _by_proxy: dict[tuple[frozenset[str], AgentRole], Registry] = attrs.field(factory=dict)

    def of(self, agent: Agent, sink: DiagnosticSink) -> Registry | None:
        """Return the agent's registry; report `tools` that resolve to no tool and return None.

        =================================  =====================================  ==========================
        agent                              direct                                 otherwise
        =================================  =====================================  ==========================
        supervisor                         nothing                                proxy over all; capabilities
        worker, deep_research: no `tools`  nothing                                proxy over all; capabilities
        worker, deep_research: `tools`     the named tools                        nothing
        project                            nothing                                nothing
        octomind                           tools of its boot capabilities         capabilities of its domain
        =================================  =====================================  ==========================

        Tools of builtin servers that are for some roles are direct for agents of these roles: all of them, or for a
        worker with `tools` those that it names. Other agents do not have them.

        Source: Octo, tool distribution; Octomind, capabilities in agent manifests.
        """
        source, fleet = agent.source, self.fleet
        if source.kind == "octomind":
            return _octomind(agent, fleet)
        excluded = exclusions_of(agent, fleet, sink)
        visible = self.visible_grants(agent)
        own = _direct(visible, role_of(agent), fleet, excluded)
        if source.type == "project":
            return _without(_registry(own, (), fleet), excluded, fleet)
        if source.tools is not None and source.type != "supervisor":
            selection = select_tools(agent, fleet, visible, excluded, sink)
            if selection is None:
                return None
            # A deep research agent has its own tools in addition to those that it names.
            direct = (*selection.grants, *(own if source.type == "deep_research" else ()))
            return _without(_registry(direct, (), fleet, host_tools=selection.host_tools), excluded, fleet)
        if excluded == NOTHING:
            return attrs.evolve(self._whole(agent), **_switchable(agent, fleet))
        selection = select_tools(agent, fleet, visible, excluded, sink, deny_only=True)
        assert selection is not None  # noqa: S101  # only `tools` can resolve to nothing
        registry = attrs.evolve(_registry(own, selection.grants, fleet, proxy=True), **_switchable(agent, fleet))
        return _without(registry, excluded, fleet)

    def visible_grants(self, agent: Agent) -> tuple[ServerGrant, ...]:
        """Return all that an agent without `tools` reaches: all of open servers, and the grants of capabilities."""
        key = self._private(agent), role_of(agent)
        if key not in self._visible:
            self._visible[key] = _visible(*key, self.fleet)
        return self._visible[key]

    def _whole(self, agent: Agent) -> Registry:
        """Return the registry of an agent that reaches all visible tools through the proxy."""
        key = self._private(agent), role_of(agent)
        if key not in self._by_proxy:
            visible = self.visible_grants(agent)
            self._by_proxy[key] = _registry(_direct(visible, key[1], self.fleet), visible, self.fleet, proxy=True)
        return self._by_proxy[key]

    def _private(self, agent: Agent) -> frozenset[str]:
        return frozenset(name for name, server in self.fleet.servers.items() if agent.name in server.private_to)


def _without(registry: Registry, excluded: Exclusions, fleet: Fleet) -> Registry:
    """Return a registry with its exclusions, and without capabilities that they exclude completely."""

    def is_left(name: str) -> bool:
        grants = fleet.capabilities[name].grants
        tools = [tool for grant in grants for tool in grant.tools]
        globs = frozenset(
            (grant.server, glob) for grant in grants if not fleet.servers[grant.server].listed for glob in grant.globs
        )
        return (
            not (tools or globs) or any(tool not in excluded.tools for tool in tools) or bool(excluded.left_of(globs))
        )

    if excluded == NOTHING:
        return registry
    there = {grant.server for grant in (*registry.unlisted, *registry.unlisted_direct)}
    globs: dict[str, list[str]] = {}
    for server, glob in sorted(excluded.globs):
        if server in there:
            globs.setdefault(server, []).append(glob)
    return attrs.evolve(
        registry,
        capabilities=tuple(filter(is_left, registry.capabilities)),
        reserved=tuple(filter(is_left, registry.reserved)),
        excluded=tuple(Grant(server=server, globs=tuple(found)) for server, found in globs.items()),
        confined=True,
    )


def _direct(
    grants: Iterable[ServerGrant], role: AgentRole, fleet: Fleet, excluded: Exclusions = NOTHING
) -> list[ServerGrant]:
    """Return the tools of grants that agents of a role have directly, without excluded ones."""
    found = []
    for grant in grants:
        roles = fleet.servers[grant.server].roles
        tools = tuple(tool for tool in grant.tools if role in roles.get(tool.tool, ()) and tool not in excluded.tools)
        if tools:
            found.append(attrs.evolve(grant, tools=tools, globs=()))
    return found


def _without_others(grant: ServerGrant, role: AgentRole, fleet: Fleet) -> ServerGrant:
    """Return a grant without the tools that only agents of other roles have."""
    roles = fleet.servers[grant.server].roles
    if not roles:
        return grant
    return attrs.evolve(grant, tools=tuple(tool for tool in grant.tools if role in roles.get(tool.tool, (role,))))


def _visible(private: frozenset[str], role: AgentRole, fleet: Fleet) -> tuple[ServerGrant, ...]:
    globs: dict[str, dict[str, None]] = {}
    for name, server in fleet.servers.items():
        if server.include == ():  # the filter excludes every tool
            continue
        if server.open or name in private:
            globs[name] = dict.fromkeys(EVERY)
    for capability in fleet.capabilities.values():
        for grant in () if capability.is_selected else capability.grants:
            globs.setdefault(grant.server, {}).update(dict.fromkeys(grant.globs))
    grants = (grant_of(fleet.servers[name], tuple(globs[name])) for name in fleet.servers if name in globs)
    return tuple(_without_others(grant, role, fleet) for grant in grants)


def _octomind(agent: Agent, fleet: Fleet) -> Registry:
    boot = [fleet.capabilities[name] for name in agent.capabilities]
    direct = [*agent.own_grants, *(grant for capability in boot for grant in capability.grants)]
    named = _switchable(agent, fleet)
    later = [grant for names in named.values() for name in names for grant in fleet.capabilities[name].grants]
    registry = attrs.evolve(_registry(direct, (), fleet), boot=tuple(sorted(agent.capabilities)), **named)
    return attrs.evolve(registry, tools=tuple(sorted({*registry.tools, *_indexes(later, fleet)})))


def _switchable(agent: Agent, fleet: Fleet) -> dict[str, Any]:
    """Return `capabilities` and `reserved` of a registry. A domain narrows only an agent that has one."""
    domain = agent.source.domain

    def admitted(capability: Capability) -> bool:
        if capability.closed or not capability.domains:
            return not capability.closed
        return fleet.domainless == "all" if domain is None else domain in capability.domains

    granted = {fleet.capabilities[name].bare for name in agent.capabilities}
    found = [
        capability
        for name, capability in sorted(fleet.capabilities.items())
        if admitted(capability) and not capability.is_selected and name not in granted
    ]
    return {
        "capabilities": tuple(one.name for one in found if not one.reserved),
        "reserved": tuple(one.name for one in found if one.reserved),
    }


def _registry(
    direct: Iterable[ServerGrant],
    deferred: Iterable[ServerGrant],
    fleet: Fleet,
    *,
    proxy: bool = False,
    host_tools: tuple[str, ...] = (),
) -> Registry:
    direct, deferred = tuple(direct), tuple(deferred)
    direct_tools = _indexes(direct, fleet)
    return Registry(
        tools=tuple(sorted({*direct_tools, *_indexes(deferred, fleet)})),
        direct=tuple(sorted(direct_tools)),
        proxy=proxy,
        unlisted=_unlisted(deferred, fleet),
        unlisted_direct=_unlisted(direct, fleet),
        host_tools=host_tools,
    )


def _indexes(grants: Iterable[ServerGrant], fleet: Fleet) -> set[int]:
    return {fleet.index[tool] for grant in grants for tool in grant.tools}


def _unlisted(grants: Iterable[ServerGrant], fleet: Fleet) -> tuple[Grant, ...]:
    """Return one grant for each unlisted server, with joined globs."""
    globs: dict[str, dict[str, None]] = {}
    for grant in grants:
        if not fleet.servers[grant.server].listed and grant.globs:
            globs.setdefault(grant.server, {}).update(dict.fromkeys(grant.globs))
    return tuple(
        Grant(server=name, globs=EVERY if "*" in globs[name] else tuple(globs[name])) for name in sorted(globs)
    )
