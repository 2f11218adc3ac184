"""Amazon Q Developer CLI's agents: `.amazonq/cli-agents/*.json`.

Source: Amazon Q Developer CLI (April 2026), `cli/agent/mod.rs`: it skips an agent with an unknown key.
"""

from octoc.compiler.inputs.agents.clients import FLAG, NAMES, TABLE, TEXT, AgentDialect, object_schema

_NULLABLE = {"type": ["string", "null"]}

AMAZON_Q = AgentDialect(
    name="amazon-q",
    client="Amazon Q",
    patterns=(".amazonq/cli-agents/*.json",),
    home=".amazonq",
    syntax="json",
    effect="Amazon Q skips the agent",
    schema=object_schema(
        {
            "$schema": TEXT,
            "name": TEXT,
            "description": _NULLABLE,
            "prompt": _NULLABLE,
            "mcpServers": TABLE,
            "tools": NAMES,
            "toolAliases": TABLE,
            "allowedTools": NAMES,
            "resources": NAMES,
            "hooks": TABLE,
            "toolsSettings": TABLE,
            "useLegacyMcpJson": FLAG,
            "model": _NULLABLE,
        },
        "name",
        closed=True,
    ),
    builtin=frozenset({
        "fs_read", "fs_write", "execute_bash", "execute_cmd", "use_aws", "gh_issue", "report_issue", "introspect",
        "knowledge", "thinking", "todo_list", "delegate",
    }),
    tools=("tools", "allowedTools"),
    files=("prompt",),
)  # fmt: skip
