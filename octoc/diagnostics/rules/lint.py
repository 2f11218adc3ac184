"""OCT4xx: legal input that is likely to be wrong."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.WORKSPACE)

NO_TRIGGERS = rule(
    "OCT401",
    "no-triggers",
    "A capability has no trigger: no message can ever activate it.",
    Severity.WARNING,
    kinds=groups.CAPABILITIES,
)
UNPINNED_PACKAGE = rule(
    "OCT402",
    "unpinned-package",
    "A server runs a package without a fixed version.",
    scope=Scope.FILE,
    kinds=groups.SERVERS,
)
INSECURE_URL = rule(
    "OCT403",
    "insecure-url",
    "A server beyond this machine is reached over plain http.",
    scope=Scope.FILE,
    kinds=groups.SERVERS,
)
NOTHING_TO_ACTIVATE = rule(
    "OCT404",
    "nothing-to-activate",
    "A capability has no server and no dependency.",
    Severity.WARNING,
    kinds=groups.CAPABILITIES,
)
