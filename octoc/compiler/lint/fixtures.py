"""A rule over fixtures: an agent must be able to reach what a fixture expects of it."""

from __future__ import annotations

from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import FIXTURE_OUT_OF_REACH
from octoc.plugin.lint import lint_check


@lint_check(FIXTURE_OUT_OF_REACH)
def check_reach_of_fixtures(build: Build, sink: DiagnosticSink) -> None:
    """Report a fixture whose agent cannot activate the expected capability or does not have the expected tool."""
    fixtures = build.resolved.fixtures
    numbers = {str(tool.id): number for number, tool in enumerate(build.scoped.tools)}
    for message in fixtures.messages:
        registry = build.scoped.registries.get(message.agent)
        if registry is None or message.place is None:
            continue
        for name in message.expect:
            if name not in registry.capabilities and name not in registry.boot:
                sink.report(
                    FIXTURE_OUT_OF_REACH,
                    f"a message expects capability `{name}`, which agent `{message.agent}` cannot activate",
                    at=message.place,
                    help='name another `agent`, or write `expect = "none"`',
                )
    for query in fixtures.searches:
        registry = build.scoped.registries.get(query.agent)
        if registry is None or query.place is None:
            continue
        for tool in query.tools:
            if numbers.get(tool) not in registry.tools:
                sink.report(
                    FIXTURE_OUT_OF_REACH,
                    f"a query expects tool `{tool}`, which agent `{query.agent}` does not have",
                    at=query.place,
                    help="name another `agent`, or a tool that this one has",
                )
