"""Cursor's subagents. A subagent has all tools of its parent; `readonly` is the only restriction.

Source: Cursor, documentation on subagents (2026-11).
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, AgentDialect, object_schema, unread

CURSOR = AgentDialect(
    name="cursor",
    client="Cursor",
    patterns=(".cursor/agents/**/*.md",),
    home=".cursor",
    schema=object_schema(
        dict.fromkeys(("name", "description", "model", "readonly", "is_background", "color"), ANYTHING)
    ),
    tools=(),
    unread=unread("write `readonly: true` to keep the agent from writing", "tools"),
)
