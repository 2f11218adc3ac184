"""A rule over `[budget]`: the tools of an agent take more of each request than the workspace allows."""

from __future__ import annotations

from octoc.compiler.lint.workspace import LintRun
from octoc.compiler.model.settings import AgentBudget
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_agents import OVER_BUDGET
from octoc.plugin.lint import lint_check


@lint_check(OVER_BUDGET)
def check_budget(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report each agent over its budget, with its largest tools. The counts are those of the token report."""
    budget = workspace.settings.budget
    limits = {agent.name: budget.of(agent.name) for agent in workspace.resolved.agents}
    if all(limit == AgentBudget() for limit in limits.values()):
        return
    from octoc.compiler.workspace.token_report import token_report  # most workspaces have no budget

    places = {agent.name: agent.source.place for agent in workspace.resolved.agents}
    for cost in token_report(workspace, workspace.plugins).agents:
        limit = limits[cost.agent]
        over = []
        if limit.max_tools is not None and cost.direct_tools > limit.max_tools:
            over.append(f"{cost.direct_tools} tools, {limit.max_tools} allowed")
        if limit.max_tokens is not None and cost.direct_tokens > limit.max_tokens:
            over.append(f"{cost.direct_tokens:,} tokens of tools, {limit.max_tokens:,} allowed")
        if not over:
            continue
        largest = ", ".join(f"`{name}` ({tokens:,})" for name, tokens in cost.largest)
        method = f"counted by `{cost.counter}` in the format of `{cost.format}`, octoc's own tools included"
        sink.report(
            OVER_BUDGET,
            f"agent `{cost.agent}` is over its budget in every prompt: {' and '.join(over)}",
            at=places[cost.agent],
            notes=((f"the largest are {largest}",) if largest else ()) + (method,),
            help="let it find tools with `find_tools` or load them with a capability, or raise its limit in `[budget]`",
        )
