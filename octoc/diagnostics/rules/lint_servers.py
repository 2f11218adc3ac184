"""OCT760 to OCT779: servers that cannot start, reach too much, or run unmaintained packages."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE, kinds=groups.SERVERS)

CONTROL_CHARACTER = rule("OCT760", "control-character", "A server's definition has an invisible control character.")
