"""The gate of `[budget]`: an agent whose tools cost more in every request than the workspace allows."""

from __future__ import annotations

from octoc.compiler.lint.workspace import LintWorkspace
from octoc.compiler.model.settings import AgentBudget
from octoc.compiler.workspace.token_report import token_report
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_agents import OVER_BUDGET
from octoc.plugin.lint import lint_check


@lint_check(OVER_BUDGET)
def check_budget(workspace: LintWorkspace, sink: DiagnosticSink) -> None:
    """Report each agent over its budget, with its largest tools. Counted as the token bill counts."""
    budget = workspace.settings.budget
    limits = {agent.name: budget.of(agent.name) for agent in workspace.resolved.agents}
    if all(limit == AgentBudget() for limit in limits.values()):
        return
    places = {agent.name: agent.source.place for agent in workspace.resolved.agents}
    for paid in token_report(workspace, workspace.plugins).agents:
        limit = limits[paid.agent]
        over = []
        if limit.max_tools is not None and paid.direct_tools > limit.max_tools:
            over.append(f"{paid.direct_tools} tools, {limit.max_tools} allowed")
        if limit.max_tokens is not None and paid.direct_tokens > limit.max_tokens:
            over.append(f"{paid.direct_tokens:,} tokens of tools, {limit.max_tokens:,} allowed")
        if not over:
            continue
        largest = ", ".join(f"`{name}` ({tokens:,})" for name, tokens in paid.largest)
        counted = f"counted as `{paid.format}` is shown them, by `{paid.counter}`, octoc's own tools among them"
        sink.report(
            OVER_BUDGET,
            f"agent `{paid.agent}` has in every prompt {' and '.join(over)}",
            at=places[paid.agent],
            notes=((f"the largest are {largest}",) if largest else ()) + (counted,),
            help="let it find tools by `find_tools` or load them with a capability, or raise its limit in `[budget]`",
        )
