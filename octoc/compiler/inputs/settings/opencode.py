"""OpenCode's `opencode.json`, its servers left out.

Source: OpenCode 1.17, `config/config.ts` and `config/agent.ts`: it refuses a configuration with a wrong permission, and
replaces `{env:NAME}` and `{file:PATH}` in all its text. It looks for `instructions` in its working folder and in each
folder above, up to the root of the repository (`session/instruction.ts`, read in November 2026). Keys of the root that
it does not know do nothing (1.18.33); the list is that of its SDK, with the plurals of version 2.
"""

from octoc.compiler.inputs.agents.clients import object_schema
from octoc.compiler.inputs.agents.opencode import OPENCODE as OPENCODE_AGENTS
from octoc.compiler.inputs.mcp.opencode import OPENCODE as OPENCODE_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_AGENTS = {"type": "object", "additionalProperties": OPENCODE_AGENTS.schema}
_PLACES = (("agent", "*"), ("mode", "*"))
_RESTRICTING = frozenset(OPENCODE_AGENTS.tools)
_OF_AGENTS = tuple((*place, key) for place in _PLACES for key in OPENCODE_AGENTS.tools)
_ROOT = frozenset({
    "$schema", "agent", "agents", "attachment", "autoshare", "autoupdate", "command", "commands", "compaction",
    "default_agent", "disabled_providers", "enabled_providers", "enterprise", "experimental", "formatter",
    "instructions", "keybinds", "layout", "logLevel", "lsp", "mcp", "mode", "model", "models", "permission",
    "plugin", "plugins", "provider", "providers", "reference", "references", "server", "share", "shell",
    "skills", "small_model", "snapshot", "snapshots", "subagent_depth", "theme", "tool_output", "tools", "tui",
    "username", "watcher",
})  # fmt: skip

OPENCODE = SettingsDialect(
    name="opencode",
    client="OpenCode",
    patterns=OPENCODE_SERVERS.patterns,
    reads_comments=True,
    server_list=OPENCODE_SERVERS.server_list,
    variable=OPENCODE_SERVERS.variable,
    embeds=r"\{file:([^{}]+)\}",
    effect=OPENCODE_AGENTS.effect,
    schema=object_schema(
        {
            "agent": _AGENTS,
            "mode": _AGENTS,
            "permission": OPENCODE_AGENTS.schema["properties"]["permission"],
            "instructions": {"type": "array", "items": {"type": "string"}},
        }
    ),
    files=(("instructions", "*"),),
    folders_of_files=(("references", "*", "path"),),
    based_on="above",
    agents=_PLACES,
    # It hands any other key of an agent to the model's provider.
    known_keys={**dict.fromkeys(_PLACES, _RESTRICTING), (): _ROOT},
    tools=(*((key,) for key in OPENCODE_AGENTS.tools), *_OF_AGENTS),
    builtin=OPENCODE_AGENTS.builtin,
    addresses=(("provider", "*", "options", "baseURL"),),
    texts=(("provider", "*", "options", "*"), ("provider", "*", "options", "headers", "*")),
)
