"""OCT490 to 499: settings of `[lint]`, and suppressions in comments."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE)

UNUSED_SUPPRESSION = rule(
    "OCT490",
    "unused-suppression",
    "A comment suppresses a rule that reports nothing there.",
    Severity.WARNING,
    scope=Scope.WORKSPACE,
)
UNKNOWN_RULE = rule("OCT491", "unknown-rule", "A setting or a suppression names a rule that does not exist.")
SUPPRESSION_WITHOUT_RULE = rule(
    "OCT492", "suppression-without-rule", "A comment suppresses findings without naming a rule.", Severity.WARNING
)
UNMATCHED_OVERRIDE = rule(
    "OCT493", "unmatched-override", "An override of `[lint]` matches no file.", Severity.WARNING, kinds=groups.WORKSPACE
)
