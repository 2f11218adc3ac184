"""OCT2xx: readable files whose content does not fit their kind."""

from functools import partial

from octoc.diagnostics.rule import Certainty, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE, excludes=True)

UNKNOWN_KEY = rule("OCT201", "unknown-key", "A key is unknown in this kind of file.")
MISSING_KEY = rule("OCT202", "missing-key", "A required key is missing.", certainty=Certainty.CLIENT)
WRONG_TYPE = rule(
    "OCT203", "wrong-type", "A value has another type than its key expects.", certainty=Certainty.NEEDED_KEY
)
UNEXPECTED_VALUE = rule("OCT204", "unexpected-value", "A value is not one that its key allows.")
OUT_OF_RANGE = rule("OCT205", "out-of-range", "A number is outside the range that its key allows.")
BAD_NAME = rule(
    "OCT206", "bad-name", "A name has characters that names of its kind cannot have.", certainty=Certainty.CLIENT
)
EMPTY_VALUE = rule(
    "OCT207", "empty-value", "A text or a list is empty where content is expected.", certainty=Certainty.NEEDED_KEY
)
UNKNOWN_FIELD = rule(
    "OCT208", "unknown-field", "A field is unknown to every client and tap, and is ignored.", Severity.WARNING
)
UNUSED_FIELD = rule("OCT209", "unused-field", "octoc knows a field but does not act on it.", Severity.WARNING)
REPEATED_NAME = rule(
    "OCT210", "repeated-name", "Two entities of one file have the same name.", certainty=Certainty.CLIENT
)

AMBIGUOUS_ACCESS = rule(
    "OCT247",
    "ambiguous-access",
    "Two entries of `[serve.oidc]` match the same tokens.",
    kinds=groups.WORKSPACE,
)
REFUSED_BY_REGISTRY = rule(
    "OCT739",
    "refused-by-registry",
    "The MCP registry refuses a `server.json`.",
    kinds=groups.REGISTRY_SERVERS,
    certainty=Certainty.CLIENT,
)
SKILL_FILES_CHANGED = rule(
    "OCT773",
    "skill-files-changed",
    "Files of a skill differ from the digest in `skills-lock.json`.",
    Severity.INFO,
    kinds=groups.SKILLS_LOCKS,
)
DEPLOYED_FILES_CHANGED = rule(
    "OCT774",
    "deployed-files-changed",
    "Deployed files differ from their digests in `apm.lock.yaml`.",
    Severity.WARNING,
    kinds=groups.APM_LOCKS,
)
MISSING_SOURCE = rule(
    "OCT747",
    "missing-source",
    "The file of a FastMCP server does not exist.",
    kinds=groups.FASTMCP,
    certainty=Certainty.CLIENT,
)

TWO_SERVER_LISTS = rule("OCT220", "two-server-lists", "A file has both `mcpServers` and `servers`.", kinds=groups.MCP)
FOREIGN_SERVER_LIST = rule(
    "OCT221",
    "foreign-server-list",
    "Servers are listed under a key that the client of the file does not read.",
    Severity.WARNING,
    kinds=groups.MCP,
)
UNREAD_SERVER_FILE = rule(
    "OCT767",
    "unread-server-file",
    "Servers stand in a file that the client does not read by itself.",
    Severity.WARNING,
    kinds=groups.MCP,
)
UNKNOWN_TRANSPORT = rule(
    "OCT222", "unknown-transport", "A server's `type` is not a transport that octoc knows.", kinds=groups.SERVERS
)
AMBIGUOUS_TRANSPORT = rule(
    "OCT223", "ambiguous-transport", "A server has both a `command` and a `url`.", kinds=groups.SERVERS
)
UNTYPED_URL = rule(
    "OCT224",
    "untyped-url",
    "A server has a `url` and no `type`: some clients skip it.",
    Severity.WARNING,
    kinds=groups.SERVERS,
)
INCOMPLETE_SERVER = rule(
    "OCT225",
    "incomplete-server",
    "A server lacks a field that its transport needs.",
    kinds=groups.SERVERS,
    certainty=Certainty.CLIENT,
)
INCOMPLETE_OCTOMIND_SERVER = rule(
    "OCT226",
    "incomplete-octomind-server",
    "A server lacks a field that Octomind needs to load it.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
TWO_TOOL_FILTERS = rule("OCT227", "two-tool-filters", "A server has two allow-lists of tools.", kinds=groups.MCP)
IGNORED_TIMEOUT = rule(
    "OCT228",
    "ignored-timeout",
    "A `timeout` is below 1000 milliseconds, which its client ignores.",
    Severity.WARNING,
    kinds=groups.MCP,
)
ENV_NUMBER = rule(
    "OCT229",
    "env-number",
    "A variable's value is a number where its client expects text.",
    Severity.WARNING,
    kinds=groups.MCP,
)

REFUSED_TYPE = rule(
    "OCT780",
    "refused-type",
    "A server's `type` is a word that its client refuses or marks.",
    kinds=groups.MCP,
    certainty=Certainty.CLIENT,
)
SERVER_OUTSIDE_LIST = rule(
    "OCT781",
    "server-outside-list",
    "A server stands beside the list of servers, where no client looks for it.",
    Severity.WARNING,
    kinds=groups.MCP,
)

AGENT_WITHOUT_NAME = rule(
    "OCT240",
    "agent-without-name",
    "A Markdown file among Claude Code's agents has no name.",
    Severity.INFO,
    kinds=groups.AGENT_MD,
)
AGENT_NAME_FROM_PATH = rule(
    "OCT241",
    "agent-name-from-path",
    "An AGENT.md has no `name`, so its path gives it.",
    Severity.WARNING,
    kinds=groups.AGENT_MD,
)
UNUSUAL_AGENT_NAME = rule(
    "OCT242",
    "unusual-agent-name",
    "Some clients refuse an agent's name.",
    Severity.WARNING,
    kinds=groups.AGENT_MD,
    certainty=Certainty.OCTOC,
)
EXTRA_ROLES = rule(
    "OCT243", "extra-roles", "An agent manifest has more than one role.", Severity.WARNING, kinds=groups.MANIFESTS
)
RESTRICTION_NOT_IN_FORCE = rule(
    "OCT746",
    "restriction-not-in-force",
    "An agent, a skill or a command names its tools by a key that its client does not read.",
    Severity.WARNING,
    kinds=groups.CLIENT_AGENTS | groups.AGENT_MD | groups.SKILLS | groups.CLAUDE_COMMANDS,
)
LONG_SKILL_TEXT = rule(
    "OCT735",
    "long-skill-text",
    "A skill's name or description is longer than its client reads.",
    Severity.WARNING,
    kinds=groups.SKILLS,
)
SKILL_NAME_DIFFERS = rule(
    "OCT244",
    "skill-name-differs",
    "A skill's name differs from the name of its folder.",
    Severity.WARNING,
    kinds=groups.SKILLS,
)
SNAPSHOT_NAME_DIFFERS = rule(
    "OCT245",
    "snapshot-name-differs",
    "A snapshot's server differs from the one in its file name.",
    Severity.WARNING,
    kinds=groups.SNAPSHOTS,
)
UNUSED_SETTING = rule(
    "OCT246",
    "unused-setting",
    "A setting has no effect with the chosen option.",
    Severity.WARNING,
    kinds=groups.WORKSPACE,
)
