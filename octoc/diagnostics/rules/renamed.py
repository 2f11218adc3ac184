"""OCT740 to OCT749: names that changed, of which the old one is still read."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.FILE, excludes=True)

RENAMED_KEY = rule("OCT740", "renamed-key", "A key has a new name; the old name is still read.", Severity.WARNING)
