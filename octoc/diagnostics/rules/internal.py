"""OCT9xx: a bug in octoc itself."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope

rule = partial(Rule, scope=Scope.BUILD)

INTERNAL_ERROR = rule("OCT901", "internal-error", "octoc failed in a way that is not the user's mistake.")
