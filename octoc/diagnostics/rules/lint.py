"""OCT4xx: what is legal and still likely to be wrong."""

from octoc.diagnostics.rule import Rule, Severity

NO_TRIGGERS = Rule(
    "OCT401", "no-triggers", "A capability has no trigger: no message can ever activate it.", Severity.WARNING
)
UNPINNED_PACKAGE = Rule("OCT402", "unpinned-package", "A server runs a package without a fixed version.")
INSECURE_URL = Rule("OCT403", "insecure-url", "A server beyond this machine is reached over plain http.")
NOTHING_TO_ACTIVATE = Rule(
    "OCT404", "nothing-to-activate", "A capability has no server and no dependency.", Severity.WARNING
)
