"""OpenCode's agents: `.opencode/agents/**/*.md`; the older name of the folder is `agent`.

Source: OpenCode 1.17, `config/agent.ts` and `v1/config/agent.ts`: an agent that does not meet the schema makes its
configuration invalid. It hands keys that it does not know to the model's provider.
"""

import attrs

from octoc.compiler.inputs.agents.clients import COUNT, FLAG, NUMBER, TABLE, TEXT, AgentDialect, object_schema, unread

_ACTION = {"enum": ["ask", "allow", "deny"]}
_RULE = {"anyOf": [_ACTION, {"type": "object", "additionalProperties": _ACTION}]}
_COLORS = ["primary", "secondary", "accent", "success", "warning", "error", "info"]

OPENCODE = AgentDialect(
    name="opencode",
    client="OpenCode",
    patterns=(".opencode/agents/**/*.md", ".opencode/agent/**/*.md"),
    home=".opencode",
    effect="OpenCode refuses its configuration",
    schema=object_schema({
        "name": TEXT,
        "model": TEXT,
        "variant": TEXT,
        "prompt": TEXT,
        "description": TEXT,
        "temperature": NUMBER,
        "top_p": NUMBER,
        "mode": {"enum": ["subagent", "primary", "all"]},
        "hidden": FLAG,
        "disable": FLAG,
        "color": {"anyOf": [{"enum": _COLORS}, {**TEXT, "pattern": r"\A#[0-9a-fA-F]{6}\Z"}]},
        "steps": COUNT,
        "maxSteps": COUNT,
        "options": TABLE,
        "tools": {"type": "object", "additionalProperties": FLAG, "$comment": "a mapping such as `write: false`"},
        "permission": {"anyOf": [{"type": "object", "additionalProperties": _RULE}, _ACTION]},
    }),
    tools=("tools", "permission"),
    builtin=frozenset({
        "bash", "edit", "write", "read", "grep", "glob", "list", "lsp", "patch", "skill", "todowrite", "todoread",
        "webfetch", "websearch", "codesearch", "question", "task", "external_directory", "doom_loop",
    }),
    unread=unread("write `permission`, such as `edit: deny`"),
)  # fmt: skip
OPENCODE_USER = attrs.evolve(
    OPENCODE,
    name="opencode-user",
    patterns=tuple(f"opencode/{inner}{part}/*.md" for inner in ("", "*/") for part in ("agents", "agent")),
    home="",
    beside=("../opencode.json", "../opencode.jsonc"),
    is_in_project=False,
)
"""The agents in a user's own folder, `~/.config/opencode`, as repositories of such folders keep it."""
