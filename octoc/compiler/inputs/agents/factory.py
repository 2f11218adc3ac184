"""Factory's droids: `.factory/droids/*.md`.

Source: Factory, custom droids (April 2026): a droid needs front matter with a `name`; names of tools have one case.
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, TEXT, AgentDialect, object_schema, unread

FACTORY = AgentDialect(
    name="factory",
    client="Factory",
    patterns=(".factory/droids/*.md",),
    home=".factory",
    effect="Factory does not load the droid",
    schema=object_schema(
        {
            **dict.fromkeys(("description", "model", "reasoningEffort", "tools", "mcpServers"), ANYTHING),
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
