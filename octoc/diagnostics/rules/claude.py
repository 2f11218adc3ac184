"""OCT728 to OCT733: settings, plugins and marketplaces of Claude Code."""

from functools import partial

from octoc.diagnostics.rule import Certainty, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE, excludes=True)

PERMISSION_WITHOUT_EFFECT = rule(
    "OCT728",
    "permission-without-effect",
    "The client skips a permission rule, or another rule decides every call that it matches.",
    Severity.WARNING,
    kinds=groups.CLAUDE_SETTINGS | groups.AGENT_MD | groups.SKILLS | groups.CLAUDE_COMMANDS | groups.CLIENT_SETTINGS,
)
HOOK_NEVER_RUNS = rule(
    "OCT729",
    "hook-never-runs",
    "A hook waits for an event or a tool that its client does not have, or stands where the client does not look.",
    Severity.WARNING,
    kinds=groups.CLAUDE_HOOKS | groups.CLIENT_SETTINGS,
)
PLUGIN_PATH_REFUSED = rule(
    "OCT730",
    "plugin-path-refused",
    "A plugin or a marketplace names a path in a form that the client refuses.",
    kinds=groups.CLAUDE_PLUGINS,
    certainty=Certainty.CLIENT,
)
NAMED_FILE_MISSING = rule(
    "OCT731",
    "named-file-missing",
    "A server, settings, an agent, a skill, a plugin or instructions name a file or folder that is not there.",
    kinds=groups.MCP
    | groups.CLAUDE_HOOKS
    | groups.CLAUDE_PLUGINS
    | groups.CLIENT_SETTINGS
    | groups.CLIENT_AGENTS
    | groups.SKILLS
    | groups.INSTRUCTIONS,
)
DANGEROUS_PERMISSION = rule(
    "OCT732",
    "dangerous-permission",
    "Shared settings let the client run everything without a question.",
    Severity.WARNING,
    kinds=groups.CLAUDE_SETTINGS,
)
IGNORED_KEY = rule(
    "OCT733",
    "ignored-key",
    "The client does not read a key in this file.",
    Severity.WARNING,
    kinds=groups.CLAUDE_SETTINGS | groups.CLAUDE_PLUGINS | groups.MCP,
)
