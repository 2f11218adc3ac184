"""OCT440 to OCT454, and OCT461: definitions of servers that are sound, and will not do what their author expects."""

from functools import partial

from octoc.diagnostics.rule import Certainty, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE)

UNEXPANDED_REFERENCE = rule(
    "OCT440",
    "unexpanded-reference",
    "A value has a `$VAR`, a `${…}` or a `$(…)` that is never replaced by a value.",
    Severity.WARNING,
    kinds=groups.SERVERS | groups.CLAUDE_HOOKS | groups.CLAUDE_PLUGINS | groups.CLIENT_SETTINGS | groups.MCPB,
)
NESTED_REFERENCE = rule(
    "OCT441",
    "nested-reference",
    "The default of a reference is a reference itself, and stays text.",
    Severity.WARNING,
    kinds=groups.SERVERS,
)
SURROUNDING_SPACE = rule(
    "OCT442", "surrounding-space", "A value begins or ends with white space.", Severity.WARNING, kinds=groups.SERVERS
)
UNUSUAL_SERVER_NAME = rule(
    "OCT443",
    "unusual-server-name",
    "A server's name has characters that tool names cannot have.",
    Severity.WARNING,
    kinds=groups.SERVERS,
)
RESERVED_SERVER_NAME = rule(
    "OCT444",
    "reserved-server-name",
    "A server has a name that Claude Code reserves.",
    Severity.WARNING,
    kinds=groups.MCP,
)
DEPRECATED_TRANSPORT = rule(
    "OCT445",
    "deprecated-transport",
    "A server uses the transport `sse`, which MCP has deprecated.",
    Severity.INFO,
    kinds=groups.SERVERS,
)
UNSUPPORTED_CONNECTION = rule(
    "OCT446",
    "unsupported-connection",
    "A server needs a kind of connection that no transport of octoc has.",
    Severity.WARNING,
    kinds=groups.SERVERS,
    certainty=Certainty.OCTOC,
)
ADDRESS_NOT_HTTP = rule(
    "OCT748",
    "address-not-http",
    "The address of a server is not one of HTTP, or has a space.",
    Severity.WARNING,
    kinds=groups.SERVERS,
)
ABSOLUTE_PATH = rule(
    "OCT447",
    "absolute-path",
    "In production mode a server's command line has an absolute path.",
    Severity.WARNING,
    kinds=groups.SERVERS,
)
UNSET_IN_SHELL = rule(
    "OCT461",
    "unset-in-shell",
    "A shell script in a server's command line uses a variable that the server does not get.",
    Severity.WARNING,
    kinds=groups.SERVERS,
    certainty=Certainty.OCTOC,
)
UNDECLARED_INPUT = rule(
    "OCT448",
    "undeclared-input",
    "A server of VS Code's file refers to an input that it does not declare.",
    Severity.WARNING,
    kinds=groups.MCP,
)
