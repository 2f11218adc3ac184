"""Cursor's subagents. A subagent has all tools of its parent; `readonly` is the only restriction.

Source: Cursor, documentation on subagents (2026-11).
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, TEXT_OR_NULL, AgentDialect, object_schema, unread

CURSOR = AgentDialect(
    name="cursor",
    client="Cursor",
    patterns=(".cursor/agents/**/*.md",),
    home=".cursor",
    schema=object_schema(
        {
            **dict.fromkeys(("name", "model", "readonly", "is_background", "color"), ANYTHING),
            "description": TEXT_OR_NULL,
        }
    ),
    tools=(),
    unread=unread("write `readonly: true` to keep the agent from writing", "tools"),
)
