"""Qwen Code's subagents: `.qwen/agents/*.md`.

Source: Qwen Code (2026), `subagents/validation.ts`: it refuses an agent without a name or a description. octoc does not
judge its tools: nothing tells their names in each version.
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, FLAG, TABLE, TEXT, AgentDialect, object_schema

QWEN = AgentDialect(
    name="qwen",
    client="Qwen Code",
    patterns=(".qwen/agents/*.md",),
    home=".qwen",
    effect="Qwen Code skips the agent",
    schema=object_schema(
        {
            "name": {**TEXT, "pattern": r"\S"},
            "description": {**TEXT, "pattern": r"\S"},
            "tools": ANYTHING,
            "disallowedTools": ANYTHING,
            "model": ANYTHING,
            "modelConfig": TABLE,
            "runConfig": TABLE,
            "color": ANYTHING,
            "approvalMode": ANYTHING,
            "background": FLAG,
            "hooks": ANYTHING,
            "mcpServers": ANYTHING,
        },
        "name",
        "description",
    ),
    bare="refused",
)
