"""OCT760 to OCT779: servers that cannot start, reach too much, or run unmaintained packages."""

from functools import partial

from octoc.diagnostics.rule import Certainty, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE, kinds=groups.SERVERS)

CONTROL_CHARACTER = rule(
    "OCT760",
    "control-character",
    "A server's definition has an invisible control character.",
    certainty=Certainty.ANY_READER,
)
HOME_PATH = Rule(
    "OCT761",
    "home-path",
    "A shared file names the home folder of one user.",
    Severity.WARNING,
    scope=Scope.FILE,
    kinds=groups.SERVERS | groups.CLAUDE_HOOKS | groups.CLIENT_SETTINGS,
)
WHOLE_DISK = rule(
    "OCT762", "whole-disk", "A server gives the model all files of the machine or of its user.", Severity.WARNING
)
RETIRED_PACKAGE = rule(
    "OCT763",
    "retired-package",
    "A server runs a package that is archived, renamed, removed or was never published.",
    Severity.WARNING,
    certainty=Certainty.ANY_READER,
)
COLLIDING_NAMES = Rule(
    "OCT764",
    "colliding-server-names",
    "Two servers have names that clients cannot tell apart in names of tools.",
    Severity.WARNING,
    scope=Scope.FILE,
    kinds=groups.MCP,
)
OUTER_VARIABLE = rule(
    "OCT765",
    "outer-variable",
    "A reference names a variable that `env` of the same server sets to something else.",
    Severity.WARNING,
)
UNUSABLE_COMMAND = rule(
    "OCT798",
    "unusable-command",
    "A server's command line starts no server, or one that gets no request.",
    certainty=Certainty.ANY_READER,
)
UNDEFINED_IN_FILE = Rule(
    "OCT766",
    "undefined-in-file",
    "A provider that no capability resolves names a server that its file does not define.",
    Severity.WARNING,
    scope=Scope.FILE,
    kinds=groups.PROVIDERS,
)
REFUSED_BY_MCPB = Rule(
    "OCT776",
    "refused-by-mcpb",
    "The program that packs MCP bundles refuses a manifest.",
    Severity.WARNING,
    scope=Scope.FILE,
    kinds=groups.MCPB,
    excludes=True,
)
UNDEFINED_NAME = Rule(
    "OCT777",
    "undefined-name",
    "A file names a plugin or an option that the repository does not define.",
    Severity.WARNING,
    scope=Scope.FILE,
    kinds=groups.NAMING,
    excludes=True,
)
