"""Why an agent has a tool: every way, computed for an agent when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from octoc.bundle.model import Registry
from octoc.compiler.model.resolved import Agent
from octoc.compiler.model.scopes import ReachStep
from octoc.compiler.scope.ceiling import Ceiling, CeilingScopes


class Reasons(Mapping[str, Mapping[int, tuple[ReachStep, ...]]]):
    """Agent -> tool -> reasons: why the agent may have the tool, then what in its own file asks for it."""

    def __init__(self, registries: Mapping[str, Registry], agents: Mapping[str, Agent], limits: CeilingScopes) -> None:
        self._registries = registries
        self._agents = agents
        self._limits = limits
        self._known: dict[str, Mapping[int, tuple[ReachStep, ...]]] = {}

    def __getitem__(self, agent: str) -> Mapping[int, tuple[ReachStep, ...]]:
        if agent not in self._known:
            registry = self._registries[agent]
            ceiling = self._limits.ceiling(agent)
            self._known[agent] = reasons_of(self._agents.get(agent), registry, ceiling, self._limits)
        return self._known[agent]

    def __iter__(self) -> Iterator[str]:
        return iter(self._registries)

    def __len__(self) -> int:
        return len(self._registries)


def reasons_of(
    agent: Agent | None, registry: Registry, ceiling: Ceiling, limits: CeilingScopes
) -> Mapping[int, tuple[ReachStep, ...]]:
    """Return the reasons for each tool of a registry."""
    found: dict[int, list[ReachStep]] = {index: [] for index in registry.tools}
    for way in ceiling.ways:
        for index in way.tools.numbers & found.keys():
            found[index].append(way.reason)
    if agent is not None:
        _add_own(agent, registry, limits, found)
    return {index: tuple(reasons) for index, reasons in found.items()}


def _add_own(agent: Agent, registry: Registry, limits: CeilingScopes, found: dict[int, list[ReachStep]]) -> None:
    source = agent.source
    for entry in source.capabilities:
        name = entry.value.rpartition("/")[2]
        if name in registry.boot:
            via = ReachStep("capability", name, limits.fleet.capabilities[name].place)
            for index in limits.brought[name].numbers & found.keys():
                found[index].append(ReachStep("agent-file", entry.value, entry.place, via))
    if source.tools is not None and source.type != "supervisor" and source.kind != "octomind":
        reason = ReachStep("agent-file", "tools", source.place.child("tools"))
        for index in registry.direct:
            found[index].append(reason)
