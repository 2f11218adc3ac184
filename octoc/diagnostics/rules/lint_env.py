"""OCT465 to OCT469: what a workspace needs of the environment that it runs in."""

from octoc.diagnostics.rule import Rule, Severity

UNSET_VARIABLE = Rule(
    "OCT465", "unset-variable", "A variable that a server needs is not set in the given environment.", Severity.WARNING
)
ENVIRONMENT_CONTRACT = Rule(
    "OCT466",
    "environment-contract",
    "How many variables the workspace refers to, and how many are not set.",
    Severity.INFO,
)
