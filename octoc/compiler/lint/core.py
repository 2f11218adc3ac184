"""octoc's own lint checks, registered through the hook that plugins use."""

from __future__ import annotations

from octoc.compiler.lint import agents, claude, mcp, taps, tools
from octoc.compiler.lint.environment import check_environment
from octoc.compiler.lint.fixtures import check_reach_of_fixtures
from octoc.compiler.lint.gateways import check_gateways, check_served_agents, check_subagents
from octoc.compiler.lint.imports import check_imports
from octoc.compiler.lint.servers import check_pins, check_urls
from octoc.compiler.lint.skill_files import check_skill_files, check_skill_links
from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.lint import LintCheck


class CoreChecks:
    """Every check of octoc, in the order in which they run."""

    @hookimpl
    def octoc_lint_rules(self) -> tuple[LintCheck, ...]:
        return (
            *(check_pins, check_urls, check_reach_of_fixtures, check_skill_files, check_skill_links, check_imports),
            *taps.CHECKS,
            *mcp.CHECKS,
            *agents.CHECKS,
            *claude.CHECKS,
            *tools.CHECKS,
            check_environment,
            check_gateways,
            check_served_agents,
            check_subagents,
        )
