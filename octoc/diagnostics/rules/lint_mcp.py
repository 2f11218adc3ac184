"""OCT440 to OCT454, and OCT461: definitions of servers that are sound, and will not do what their author expects."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.FILE)

UNEXPANDED_REFERENCE = rule(
    "OCT440",
    "unexpanded-reference",
    "A value has a `$VAR` or a `${…}` that is never replaced by a value.",
    Severity.WARNING,
)
NESTED_REFERENCE = rule(
    "OCT441", "nested-reference", "The default of a reference is a reference itself, and stays text.", Severity.WARNING
)
SURROUNDING_SPACE = rule("OCT442", "surrounding-space", "A value begins or ends with white space.", Severity.WARNING)
UNUSUAL_SERVER_NAME = rule(
    "OCT443", "unusual-server-name", "A server's name has characters that tool names cannot have.", Severity.WARNING
)
RESERVED_SERVER_NAME = rule(
    "OCT444", "reserved-server-name", "A server has a name that Claude Code reserves.", Severity.WARNING
)
DEPRECATED_TRANSPORT = rule(
    "OCT445", "deprecated-transport", "A server uses the transport `sse`, which MCP has deprecated.", Severity.WARNING
)
UNSUPPORTED_CONNECTION = rule(
    "OCT446",
    "unsupported-connection",
    "A server needs a kind of connection that no transport of octoc has.",
    Severity.WARNING,
)
ABSOLUTE_PATH = rule(
    "OCT447", "absolute-path", "In production mode a server's command line has an absolute path.", Severity.WARNING
)
UNSET_IN_SHELL = rule(
    "OCT461",
    "unset-in-shell",
    "A shell script in a server's command line uses a variable that the server does not get.",
    Severity.WARNING,
)
UNDECLARED_INPUT = rule(
    "OCT448",
    "undeclared-input",
    "A server of VS Code's file refers to an input that it does not declare.",
    Severity.WARNING,
)
