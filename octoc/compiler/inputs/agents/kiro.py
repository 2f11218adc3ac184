"""Kiro's agents: JSON of its command line, and Markdown, whose text is the prompt.

Source: Kiro, agent configuration reference (2026-11); the JSON form is that of Amazon Q Developer CLI. `kiro-cli agent
create` writes null for keys without a value. Markdown without front matter is often a prompt that a JSON file names.
"""

from octoc.compiler.inputs.agents.clients import (
    ANYTHING,
    NAMES,
    NAMES_OR_TEXT,
    TABLE,
    TEXT,
    TEXT_OR_NULL,
    AgentDialect,
    object_schema,
)

_BUILTIN = frozenset({
    "read", "fs_read", "write", "fs_write", "shell", "execute_bash", "execute_cmd", "aws", "use_aws", "grep", "glob",
    "code", "web_fetch", "web_search", "introspect", "report", "gh_issue", "knowledge", "thinking", "todo", "todo_list",
    "session", "delegate", "subagent", "use_subagent", "web", "context", "spec", "agent_crew",
})  # fmt: skip
_KEYS = dict.fromkeys(
    (
        *("$schema", "name", "description", "prompt", "mcpServers", "tools", "toolAliases", "allowedTools"),
        *("toolsSettings", "resources", "hooks", "includeMcpJson", "useLegacyMcpJson", "includePowers", "model"),
        *("keyboardShortcut", "welcomeMessage", "permissions", "excludedTools", "inclusion", "color"),
    ),
    ANYTHING,
)

KIRO = AgentDialect(
    name="kiro",
    client="Kiro",
    patterns=(".kiro/agents/**/*.md",),
    home=".kiro",
    schema=object_schema({**_KEYS, "description": TEXT_OR_NULL, "tools": NAMES_OR_TEXT}),
    builtin=_BUILTIN,
    tools=("tools", "allowedTools"),
    bare="prose",
)
KIRO_JSON = AgentDialect(
    name="kiro-json",
    client="Kiro",
    patterns=(".kiro/agents/**/*.json",),
    home=".kiro",
    syntax="json",
    effect="Kiro does not load the agent",
    schema=object_schema(
        {
            **_KEYS,
            "name": TEXT,
            "description": TEXT,
            "prompt": TEXT,
            "model": TEXT,
            "mcpServers": TABLE,
            "tools": NAMES,
            "allowedTools": NAMES,
            "toolAliases": TABLE,
            "toolsSettings": TABLE,
        }
    ),
    builtin=_BUILTIN,
    tools=("tools", "allowedTools", "toolsSettings"),
    files=("prompt",),
    takes_null=True,
)
