"""Factory's droids: `.factory/droids/*.md`.

Source: Factory, custom droids (April 2026): a droid needs front matter with a `name`; names of tools have one case.
"""

from octoc.compiler.inputs.agents.clients import (
    ANYTHING,
    NAMES_OR_TEXT,
    TEXT,
    TEXT_OR_NULL,
    AgentDialect,
    object_schema,
    unread,
)

FACTORY = AgentDialect(
    name="factory",
    client="Factory",
    patterns=(".factory/droids/*.md",),
    home=".factory",
    effect="Factory does not load the droid",
    schema=object_schema(
        {
            **dict.fromkeys(("model", "reasoningEffort", "mcpServers"), ANYTHING),
            "description": TEXT_OR_NULL,
            "tools": NAMES_OR_TEXT,
            "name": {**TEXT, "pattern": r"\S"},
        },
        "name",
    ),
    builtin=frozenset({
        "Read", "LS", "Grep", "Glob", "Create", "Edit", "MultiEdit", "ApplyPatch", "Execute", "WebSearch", "FetchUrl",
        "TodoWrite", "Task", "Skill", "AskUser", "GenerateDroid", "read-only", "edit", "execute", "web", "mcp", "all",
    }),
    elsewhere={"Bash": "Execute", "Write": "Create", "WebFetch": "FetchUrl"},
    unread=unread("name the tools that it may use in `tools`"),
    bare="refused",
)  # fmt: skip
