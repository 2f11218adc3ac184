"""OCT455 to OCT464: agents whose definition clients read differently, or only in part."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE)

EMPTY_TOOLS = rule(
    "OCT455",
    "empty-tools",
    "An agent's `tools` is empty: no tool in octoc, every tool in Octo.",
    Severity.WARNING,
    kinds=groups.AGENTS,
)
LONG_DESCRIPTION = rule(
    "OCT456",
    "long-description",
    "An agent's description is so long that Octo's routing shows only its start.",
    Severity.INFO,
    kinds=groups.AGENT_MD,
)
UNUSUAL_MODEL = rule(
    "OCT457",
    "unusual-model",
    "An agent's `model` is neither an alias of its client nor a model's name.",
    Severity.WARNING,
    kinds=groups.AGENT_MD,
)
BARE_TOOL = rule(
    "OCT458", "bare-tool", "An agent names a tool without the server that it is on.", Severity.INFO, kinds=groups.AGENTS
)
LARGE_SURFACE = rule(
    "OCT459",
    "large-surface",
    "The tools in each prompt of an agent exceed the budget in number or tokens.",
    Severity.WARNING,
    kinds=groups.AGENTS,
)
OVER_BUDGET = rule(
    "OCT460",
    "over-budget",
    "The tools in each prompt of an agent cost more than `[budget]` allows.",
    Severity.ERROR,
    kinds=groups.AGENTS,
)
