"""Rules over the evals of skills, which `octoc test` reports."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.BUILD)

EVALS_UNREADABLE = rule("OCT783", "evals-unreadable", "A file of trigger evals is not JSON that octoc can read.")
EVAL_UNUSABLE = rule(
    "OCT784",
    "eval-unusable",
    "A trigger eval has no query, no clear expectation, or a skill that does not exist.",
    Severity.WARNING,
)
SKILL_TRIGGERS_WORSE = rule(
    "OCT785", "skill-triggers-worse", "A skill's description decides a recorded trigger eval worse than before."
)
