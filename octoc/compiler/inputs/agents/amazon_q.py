"""Amazon Q Developer's agents: `.amazonq/cli-agents/*.json` of the CLI, `.amazonq/agents/*.json` of the editors.

Source: Amazon Q Developer CLI (April 2026), `cli/agent/mod.rs`: it skips an agent with an unknown key.
Source of the editors' form: aws/language-servers (2026), `mcpUtils.ts` and `agenticChat/tools`.
"""

import attrs

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

AMAZON_Q_IDE = attrs.evolve(
    AMAZON_Q,
    name="amazon-q-ide",
    patterns=(".amazonq/agents/*.json",),
    effect="",
    schema=object_schema(AMAZON_Q.schema["properties"]),
    builtin=AMAZON_Q.builtin
    | {
        *("fsRead", "fsWrite", "fsReplace", "listDirectory", "fileSearch", "executeBash", "codeReview"),
        *("displayFindings", "semanticSearch", "qCodeReview", "lspGetDocuments", "lspReadDocumentContents"),
    },
)
