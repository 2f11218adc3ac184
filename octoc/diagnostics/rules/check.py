"""OCT2xx: files whose text is sound and whose content is not what their kind expects."""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.FILE, excludes=True)

UNKNOWN_KEY = rule("OCT201", "unknown-key", "A key that this kind of file does not have.")
MISSING_KEY = rule("OCT202", "missing-key", "A key without which the entity cannot be used is missing.")
WRONG_TYPE = rule("OCT203", "wrong-type", "A value is of another type than its key expects.")
UNEXPECTED_VALUE = rule("OCT204", "unexpected-value", "A value is none of those that its key allows.")
OUT_OF_RANGE = rule("OCT205", "out-of-range", "A number is outside the range that its key allows.")
BAD_NAME = rule("OCT206", "bad-name", "A name has characters that names of its kind cannot have.")
EMPTY_VALUE = rule("OCT207", "empty-value", "A text or a list is empty where something is expected.")
UNKNOWN_FIELD = rule(
    "OCT208", "unknown-field", "A field that no known client or tap has; it is not carried on.", Severity.WARNING
)
UNUSED_FIELD = rule("OCT209", "unused-field", "A field that octoc knows and does not act on.", Severity.WARNING)
REPEATED_NAME = rule("OCT210", "repeated-name", "Two entities of one file have the same name.")

TWO_SERVER_LISTS = rule("OCT220", "two-server-lists", "A file has both `mcpServers` and `servers`.")
FOREIGN_SERVER_LIST = rule(
    "OCT221",
    "foreign-server-list",
    "Servers are listed under a key that the client of the file does not read.",
    Severity.WARNING,
)
UNKNOWN_TRANSPORT = rule("OCT222", "unknown-transport", "A server's `type` is no transport that octoc knows.")
AMBIGUOUS_TRANSPORT = rule("OCT223", "ambiguous-transport", "A server has both a `command` and a `url`.")
UNTYPED_URL = rule(
    "OCT224", "untyped-url", "A server has a `url` and no `type`: some clients skip it.", Severity.WARNING
)
INCOMPLETE_SERVER = rule("OCT225", "incomplete-server", "A server lacks what its transport needs.")
INCOMPLETE_OCTOMIND_SERVER = rule(
    "OCT226", "incomplete-octomind-server", "A server lacks a field that Octomind needs to load it.", Severity.WARNING
)
TWO_TOOL_FILTERS = rule("OCT227", "two-tool-filters", "A server has two allow-lists of tools.")
IGNORED_TIMEOUT = rule(
    "OCT228", "ignored-timeout", "A `timeout` is below the second that its client needs.", Severity.WARNING
)
ENV_NUMBER = rule("OCT229", "env-number", "A variable is a number where its client expects text.", Severity.WARNING)

AGENT_WITHOUT_NAME = rule(
    "OCT240", "agent-without-name", "A Markdown file among Claude Code's agents has no name.", Severity.INFO
)
AGENT_NAME_FROM_PATH = rule(
    "OCT241", "agent-name-from-path", "An AGENT.md has no `name`, so its path gives it.", Severity.WARNING
)
UNUSUAL_AGENT_NAME = rule(
    "OCT242", "unusual-agent-name", "An agent's name is one that some clients refuse.", Severity.WARNING
)
EXTRA_ROLES = rule("OCT243", "extra-roles", "An agent manifest has more than one role.", Severity.WARNING)
SKILL_NAME_DIFFERS = rule("OCT244", "skill-name-differs", "A skill's name is not that of its folder.", Severity.WARNING)
SNAPSHOT_NAME_DIFFERS = rule(
    "OCT245", "snapshot-name-differs", "A snapshot's server is not the one that its file name says.", Severity.WARNING
)
UNUSED_SETTING = rule(
    "OCT246", "unused-setting", "A setting belongs to another choice than the one that is made.", Severity.WARNING
)
