"""OCT3xx: names that must mean something, servers that must be told apart, tools that must be found."""

from octoc.diagnostics.rule import Rule, Severity

UNKNOWN_SERVER = Rule(
    "OCT301", "unknown-server", "A capability, an agent or octoc.toml refers to a server that nothing defines."
)
UNKNOWN_PROVIDER = Rule("OCT302", "unknown-provider", "`[providers]` names a provider that the capability has not.")
NO_DEFAULT_PROVIDER = Rule("OCT303", "no-default-provider", "A capability has no default and nothing chooses for it.")
UNKNOWN_CAPABILITY = Rule("OCT304", "unknown-capability", "A reference names a capability that no tap has.")
ADDITION_WITHOUT_EFFECT = Rule(
    "OCT325",
    "addition-without-effect",
    "A `config.toml` that only adds triggers to another tap's capability says something in vain.",
    Severity.WARNING,
)
SHADOWED = Rule("OCT305", "shadowed", "An earlier tap or folder has an entity of this name.", Severity.INFO)
DUPLICATE_AGENT = Rule("OCT306", "duplicate-agent", "Two agents of one folder have the same name.")
UNKNOWN_SKILL = Rule(
    "OCT307", "unknown-skill", "An agent's `skills` names a skill that no folder has.", Severity.WARNING
)
FOREIGN_REFERENCE = Rule(
    "OCT308",
    "foreign-reference",
    "A tap's server takes a file or a credential that the workspace did not allow.",
    Severity.WARNING,
)
SERVER_RENAMED = Rule(
    "OCT310", "server-renamed", "One server name has several definitions; the later ones get another.", Severity.WARNING
)
SERVER_DISABLED = Rule("OCT311", "server-disabled", "A server is disabled and contributes nothing.", Severity.INFO)
UNLISTED_SERVER = Rule("OCT312", "unlisted-server", "A server has no snapshot of its tools.", Severity.INFO)
STALE_SNAPSHOT = Rule(
    "OCT313", "stale-snapshot", "A snapshot was recorded from another definition of its server.", Severity.WARNING
)
ORPHAN_SNAPSHOT = Rule("OCT314", "orphan-snapshot", "A snapshot belongs to no server.", Severity.WARNING)
BUILTIN_SERVER = Rule("OCT315", "builtin-server", "The host or a plugin must bind this server's tools.", Severity.INFO)
TOOL_LEFT_OUT = Rule(
    "OCT316",
    "tool-left-out",
    "A server listed a tool that cannot be used, and its snapshot has no such tool.",
    Severity.WARNING,
)
UNKNOWN_PATTERN_SERVER = Rule(
    "OCT320", "unknown-pattern-server", "A tool pattern names a server that its file does not have."
)
UNKNOWN_TOOL = Rule("OCT321", "unknown-tool", "A tool pattern or name matches no tool of the server.")
AMBIGUOUS_TOOL = Rule("OCT322", "ambiguous-tool", "A bare tool name is found on several servers.")
SERVER_WITHOUT_TOOLS = Rule("OCT323", "server-without-tools", "The patterns leave a server without a single tool.")
TOOL_ON_UNLISTED_SERVER = Rule(
    "OCT324", "tool-on-unlisted-server", "A tool could only be on a server that is not listed yet.", Severity.INFO
)
NO_TOOL_RESOLVES = Rule("OCT330", "no-tool-resolves", "Nothing in an agent's `tools` is a tool.")
ALIAS_CLASH = Rule("OCT331", "alias-clash", "One agent has two tools of one bare name, and aliases are bare.")
UNKNOWN_AGENT = Rule("OCT350", "unknown-agent", "A fixture or a scope names an agent that is not there.")
CONTRADICTING_FIXTURES = Rule(
    "OCT351", "contradicting-fixtures", "Two fixtures expect different things of the same message or query."
)
REPEATED_FIXTURE = Rule("OCT352", "repeated-fixture", "A fixture is there twice.", Severity.WARNING)
FIXTURE_OUT_OF_REACH = Rule(
    "OCT353", "fixture-out-of-reach", "A fixture expects what its agent cannot reach.", Severity.WARNING
)
REPEATED_NEED = Rule(
    "OCT354", "repeated-need", "Two files of the workspace have a need of the same name.", Severity.WARNING
)
STALE_EXPANSION = Rule(
    "OCT355",
    "stale-expansion",
    "`routing/expanded.toml` was made for other triggers, or for a capability that is not there.",
    Severity.WARNING,
)
LITERAL_SECRET = Rule(
    "OCT340", "literal-secret", "A value that looks like a secret is written in the file.", Severity.WARNING
)
REPEATED_HEADER = Rule("OCT341", "repeated-header", "A server has two headers whose names differ in case alone.")
UNNAMED_PROFILE = Rule("OCT360", "unnamed-profile", "A production workspace does not say what ungranted tools are.")
REPEATED_SCOPE = Rule("OCT361", "repeated-scope", "Two files have a table of scopes of the same name.")
UNKNOWN_SCOPE = Rule(
    "OCT362", "unknown-scope", "A table names a tenant, an area or a group that no table of scopes defines."
)
AGENT_IN_TWO_AREAS = Rule("OCT363", "agent-in-two-areas", "An agent lives in two areas, and none of them shares it.")
GRANT_OUTSIDE_AREA = Rule(
    "OCT364", "grant-outside-area", "A group is granted to an agent that is not in the group's area."
)
WITHHELD_GRANT = Rule("OCT365", "withheld-grant", "A grant brings tools that another area or agent has for itself.")
UNGRANTED_GROUP = Rule("OCT366", "ungranted-group", "A tool group is granted to nobody, and so does nothing.")
EMPTY_GRANT = Rule("OCT367", "empty-grant", "A grant gives nothing, or gives it to nobody.")
NOT_GRANTED = Rule(
    "OCT368", "not-granted", "An agent's own file asks for what its scope does not have.", Severity.WARNING
)
BROKEN_DENY = Rule("OCT369", "broken-deny", "An agent reaches a tool that a `[[deny]]` says it never may.")
AGENT_LEFT_OUT = Rule("OCT370", "agent-left-out", "An agent is switched off, and not in the bundle.", Severity.INFO)
DEFAULT_AGENT_OUTSIDE = Rule("OCT371", "default-agent-outside", "An area's default agent is not one of its agents.")
UNREAD_SCOPES = Rule(
    "OCT372",
    "unread-scopes",
    "A table of scopes cannot be read, so that nobody knows what it withholds.",
    Severity.WARNING,
)
UNREACHED_GRANT = Rule(
    "OCT373",
    "unreached-grant",
    "An agent is granted tools that its kind, or its own `tools`, gives it no way to.",
    Severity.WARNING,
)
UNMATCHED_EXCLUSION = Rule("OCT374", "unmatched-exclusion", "An exclusion matches no tool, and so excludes nothing.")
