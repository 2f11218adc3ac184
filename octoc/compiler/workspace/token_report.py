"""The token report: what each agent costs at the start, what it may load, and what a capability adds.

Counted on what the agent's provider is shown, octoc's own tools with it, by the counter of its model. Tools of servers
without a snapshot are not known, and not counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.build import Build
from octoc.compiler.model.tokens import AgentTokens, CapabilityTokens, TokenReport
from octoc.compiler.scope.aliases import aliases_in, style_of
from octoc.formats import ToolFormat, format_of
from octoc.formats.own_tools import own_wires
from octoc.formats.render import shown
from octoc.names import ToolId
from octoc.plugin import PluginError, TokenCounter
from octoc.plugin.manager import Plugins
from octoc.references import unescaped
from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    from octoc.compiler.model.resolved import Agent

LARGEST = 3


def token_report(build: Build, plugins: Plugins) -> TokenReport:
    """Count every agent's tools and every capability's."""
    prices = _Prices(build, plugins)
    numbers = {tool.id: index for index, tool in enumerate(build.scoped.tools)}
    known = [agent for agent in build.resolved.agents if agent.name in build.scoped.registries]
    count = prices.counter("", _default(build))
    return TokenReport(
        agents=tuple(_agent(agent, build, prices, numbers) for agent in known),
        capabilities=tuple(
            CapabilityTokens(
                capability=capability.name,
                tools=len(owned),
                tokens=sum(count.of(index, build.scoped.tools[index].alias) for index in owned),
            )
            for capability in build.resolved.capabilities
            for owned in [_numbers((tool for grant in capability.grants for tool in grant.tools), numbers)]
        ),
    )


def _agent(agent: Agent, build: Build, prices: _Prices, numbers: dict[ToolId, int]) -> AgentTokens:
    registry = build.scoped.registries[agent.name]
    model = agent.source.model
    form = format_of(model)  # as the runtime counts, which knows no provider of the workspace
    count = prices.counter(model, form)
    boot = [one for one in build.resolved.capabilities if one.name in registry.boot]
    booted = _numbers((tool for one in boot for grant in one.grants for tool in grant.tools), numbers)
    direct = sorted({*registry.direct, *booted}.intersection({*registry.tools, *registry.direct}))
    deferred = sorted(set(registry.tools).difference(direct))
    results = build.settings.results
    switchable = bool(registry.capabilities or registry.boot)
    has_tools = bool(registry.proxy or registry.tools or registry.unlisted_direct or switchable or registry.skills)
    own = own_wires(
        profile=results.profile,
        proxy=registry.searches,
        switchable=switchable and not registry.bound,
        skills=bool(registry.skills),
        reads_results=has_tools and registry.searches and results.store_memory_bytes + results.store_disk_bytes > 0,
    )
    names = aliases_in(registry, build.scoped.tools, style_of(build.settings))
    priced = sorted(
        ((names[index], count.of(index, names[index])) for index in direct), key=lambda one: (-one[1], one[0])
    )
    written = unescaped if agent.source.kind == OCTOMIND.name else str
    prompts = [written(agent.source.prompt), build.prompts.get(agent.name, "")]
    prompt_tokens, servers_prompt_tokens = (count.counter.count(text) if text else 0 for text in prompts)
    own_tokens = sum(count.text(wire["name"], wire) for wire in own)
    direct_tokens = own_tokens + sum(tokens for _, tokens in priced)
    return AgentTokens(
        agent=agent.name,
        format=form,
        counter=count.counter.name,
        start_tokens=prompt_tokens + servers_prompt_tokens + direct_tokens,
        prompt_tokens=prompt_tokens,
        servers_prompt_tokens=servers_prompt_tokens,
        own_tokens=own_tokens,
        direct_tools=len(own) + len(direct),
        direct_tokens=direct_tokens,
        deferred_tools=len(deferred),
        deferred_tokens=sum(count.of(index, names[index]) for index in deferred),
        largest=tuple(priced[:LARGEST]),
    )


def _default(build: Build) -> ToolFormat:
    providers = build.settings.lint.providers
    return format_of(providers[0]) if providers else format_of("")


def _numbers(tools: Iterable[ToolId], numbers: dict[ToolId, int]) -> list[int]:
    return list(dict.fromkeys(numbers[tool] for tool in tools if tool in numbers))


class _Prices:
    """The tokens of tools, each counted once for a form and a counter."""

    def __init__(self, build: Build, plugins: Plugins) -> None:
        self._build = build
        self._plugins = plugins
        self._counters: dict[str, TokenCounter] = {}
        self._counts: dict[tuple[str, str], _Count] = {}

    def counter(self, model: str, form: ToolFormat) -> _Count:
        if model not in self._counters:
            try:
                self._counters[model] = self._plugins.token_counter(model)
            except PluginError:  # the runtime logs it, and counts in the same way
                self._counters[model] = APPROXIMATE
        counter = self._counters[model]
        return self._counts.setdefault((counter.name, form), _Count(self._build, counter, form))


class _Count:
    def __init__(self, build: Build, counter: TokenCounter, form: ToolFormat) -> None:
        self.counter = counter
        self._build = build
        self._form = form
        self._known: dict[tuple[int, str], int] = {}

    def of(self, index: int, alias: str) -> int:
        if (index, alias) not in self._known:
            self._known[index, alias] = self.text(alias, self._build.scoped.tools[index].listed.wire)
        return self._known[index, alias]

    def text(self, alias: str, wire: Mapping[str, Any]) -> int:
        made = shown(alias, wire, self._form).tool
        return self.counter.count(json.dumps(made, ensure_ascii=False, separators=(",", ":")))
