"""lint: rules over the whole workspace. To add one, write a function in a module here and name it in `RULES`."""

from __future__ import annotations

from collections.abc import Callable

from octoc.compiler.context import Context
from octoc.compiler.emit.strictness import is_strict
from octoc.compiler.lint import agents, mcp, taps, tools
from octoc.compiler.lint.agents.budget import check_budget
from octoc.compiler.lint.environment import check_environment
from octoc.compiler.lint.fixtures import check_reach_of_fixtures
from octoc.compiler.lint.mcp.rest import check_rest
from octoc.compiler.lint.servers import check_pins, check_urls
from octoc.compiler.model.build import Build
from octoc.compiler.policy.report import report_policy
from octoc.diagnostics.model import DiagnosticSink

RULES: tuple[Callable[[Build, DiagnosticSink], None], ...] = (
    *(check_pins, check_urls, check_reach_of_fixtures),
    *taps.RULES,
    *mcp.RULES,
    *agents.RULES,
    *tools.RULES,
)


def lint(build: Build, context: Context) -> Build:
    """Run every rule; the product is passed on as it is."""
    for rule in RULES:
        rule(build, context.sink)
    for gate_rule in taps.GATE_RULES:
        gate_rule(build, context.sink)
    check_budget(build, context)
    check_rest(build, context.sink, strict=is_strict(build, context))
    if context.environment is not None:
        check_environment(build, context.environment, context.sink)
    if context.policy is not None:
        files = (build.settings.place.file, *(file.display for file in build.discovered.files))
        report_policy(context.policy, files, context.sink)
    return build
