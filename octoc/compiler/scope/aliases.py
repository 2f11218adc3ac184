"""Aliases of an agent's tools, and the report of bare names that one agent has twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octoc.aliases import alike, make_aliases
from octoc.bundle.model import Registry
from octoc.choices import AliasStyle
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import ScopedTool
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import ALIAS_CLASH


def style_of(settings: WorkspaceSettings) -> AliasStyle:
    """Return the workspace's style of aliases."""
    return "bare" if settings.alias_style == "bare" else "qualified"


def aliases_in(registry: Registry, tools: Sequence[ScopedTool], style: AliasStyle) -> Mapping[int, str]:
    """Return tool number -> the alias that an agent's model uses, as the runtime makes it among the agent's tools."""
    if not any(tools[index].contested for index in registry.tools):
        return {index: tools[index].alias for index in registry.tools}
    made = make_aliases((tools[index].id for index in registry.tools), style)
    return {index: made[tools[index].id] for index in registry.tools}


def check_aliases(
    registries: Mapping[str, Registry], tools: Sequence[ScopedTool], build: Build, sink: DiagnosticSink
) -> None:
    """Report tools of one agent with the same bare name."""
    contested = frozenset(index for index, tool in enumerate(tools) if tool.contested)
    if style_of(build.settings) != "bare" or not contested:
        return
    places = {server.name: server.place for server in build.resolved.servers}
    reported: set[frozenset[str]] = set()
    for agent, registry in registries.items():
        mine = (tools[index].id for index in registry.tools if index in contested)
        for clash in alike(mine, "bare"):
            first, *others = clash
            if frozenset(map(str, clash)) in reported:
                continue
            reported.add(frozenset(map(str, clash)))
            sink.report(
                ALIAS_CLASH,
                f"tool `{first.tool}` of agent `{agent}` is on {len(clash)} servers, and aliases are bare",
                at=places[first.server],
                related={f"also on `{other.server}`": places[other.server] for other in others},
                help='set `style = "qualified"` in `[aliases]`, or filter the tool on one of the servers',
            )
