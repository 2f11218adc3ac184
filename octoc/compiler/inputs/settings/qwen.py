"""Qwen Code's `.qwen/settings.json`, its servers left out.

Source: Qwen Code, `permissions` of its settings (November 2026): rules as Claude Code's, `Tool` or `Tool(what)`.
`permissions/rule-parser.ts` (2026): the names of tools, in the case that they have there; a rule with any other name
matches no tool of its own.
"""

from octoc.compiler.inputs.mcp.qwen import QWEN as QWEN_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import QWEN_HOOK_FORM

_CLASSES = (
    "Agent", "Edit", "Exec", "ExitPlanMode", "Glob", "Grep", "ListFiles", "Lsp", "Monitor", "NotebookEdit", "ReadFile",
    "Shell", "Skill", "Task", "TodoWrite", "WebFetch", "WriteFile",
)  # fmt: skip
"""Names that a rule may also write with `Tool` after them."""
_RULES = tuple(("permissions", kind) for kind in ("allow", "ask", "deny"))
_LISTS = tuple(("tools", key) for key in ("core", "allowed", "exclude"))
"""Lists of earlier versions."""

QWEN = SettingsDialect(
    name="qwen",
    client="Qwen Code",
    patterns=QWEN_SERVERS.patterns[:1],
    reads_comments=True,
    hooks=QWEN_HOOK_FORM,
    rules=(*_RULES, *_LISTS),
    tools=(*_RULES, *_LISTS),
    builtin=frozenset({
        *_CLASSES, *(f"{name}Tool" for name in _CLASSES), "AskUserQuestion", "Bash", "EnterPlanMode", "FindFiles",
        "Read", "ReadFolder", "SaveMemory", "SearchFiles", "WebSearch", "Write", "agent", "ask_user_question", "edit",
        "enter_plan_mode", "exec", "exit_plan_mode", "glob", "grep_search", "list_directory", "lsp", "monitor",
        "notebook_edit", "read_file", "read_many_files", "replace", "run_shell_command", "save_memory",
        "search_file_content", "skill", "task", "todo_write", "web_fetch", "web_search", "write_file",
    }),
)  # fmt: skip
