"""A rule over the tools that each request of an agent carries."""

from __future__ import annotations

import json
from functools import cache

from octoc.compiler.model.build import Build
from octoc.compiler.model.settings import AgentBudget
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_agents import LARGE_SURFACE
from octoc.plugin.lint import lint_check
from octoc.tokens import APPROXIMATE


@lint_check(LARGE_SURFACE)
def check_surface(build: Build, sink: DiagnosticSink) -> None:
    """Report an agent whose direct tools exceed the limits of `[lint]` in number or in approximate tokens."""
    lint = build.settings.lint
    budget = build.settings.budget

    @cache  # agents share tools
    def tokens_of(index: int) -> int:
        tool = build.scoped.tools[index]
        shown = {**tool.listed.wire, "name": tool.alias}
        kept = {key: shown[key] for key in ("name", "description", "inputSchema") if key in shown}
        return APPROXIMATE.count(json.dumps(kept, ensure_ascii=False, separators=(",", ":")))

    for agent in build.resolved.agents:
        registry = build.scoped.registries.get(agent.name)
        if registry is None or not registry.direct or registry.bound:
            continue
        if budget.of(agent.name) != AgentBudget():
            continue  # OVER_BUDGET compares this agent with its own limits
        tools, tokens = len(registry.direct), sum(map(tokens_of, registry.direct))
        if tools <= lint.max_tools and tokens <= lint.max_tokens:
            continue
        by_server: dict[str, int] = {}
        for index in registry.direct:
            server = build.scoped.tools[index].id.server
            by_server[server] = by_server.get(server, 0) + 1
        largest = sorted(by_server, key=lambda name: (-by_server[name], name))[:3]
        octomind = agent.source.kind == "octomind"
        sink.report(
            LARGE_SURFACE,
            f"agent `{agent.name}` has {tools} tools in every prompt, about {tokens:,} tokens: "
            f"its budget is {lint.max_tools} tools and {lint.max_tokens:,} tokens",
            at=agent.source.place.child("capabilities" if octomind else "tools"),
            notes=("most are on " + ", ".join(f"`{name}` ({by_server[name]})" for name in largest),),
            help=(
                "grant fewer capabilities: those of its domain are activated when a message needs them"
                if octomind
                else "name fewer tools, or remove `tools`: the agent then finds every tool with `find_tools`"
            ),
        )
