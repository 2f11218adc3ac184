"""Qwen Code's subagents: `.qwen/agents/*.md`.

Source: Qwen Code (2026), `subagents/validation.ts`: it refuses an agent without a name or a description.
`permissions/rule-parser.ts` (2026): names of tools, in the case that they have there. Other versions may have more, so
only a slip of one of them is reported.
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, FLAG, TABLE, TEXT, AgentDialect, object_schema

_CLASSES = (
    "Agent", "Edit", "Exec", "ExitPlanMode", "Glob", "Grep", "ListFiles", "Lsp", "Monitor", "NotebookEdit", "ReadFile",
    "Shell", "Skill", "Task", "TodoWrite", "WebFetch", "WriteFile",
)  # fmt: skip
"""Names that a rule may also write with `Tool` after them."""
QWEN_TOOLS = frozenset({
    *_CLASSES, *(f"{name}Tool" for name in _CLASSES), "AskUserQuestion", "Bash", "EnterPlanMode", "FindFiles",
    "Read", "ReadFolder", "SaveMemory", "SearchFiles", "WebSearch", "Write", "agent", "ask_user_question", "edit",
    "enter_plan_mode", "exec", "exit_plan_mode", "glob", "grep_search", "list_directory", "lsp", "monitor",
    "notebook_edit", "read_file", "read_many_files", "replace", "run_shell_command", "save_memory",
    "search_file_content", "skill", "task", "todo_write", "web_fetch", "web_search", "write_file",
})  # fmt: skip

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
    builtin=QWEN_TOOLS,
    ignores_case=True,
    bare="refused",
)
