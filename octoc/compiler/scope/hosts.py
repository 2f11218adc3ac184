"""Tools that the host brings, not a server: their names, and how entries of agents' files write them."""

from __future__ import annotations

import re

# Tools that the host brings, not a server: Octo's built-in and lifecycle tools, and those of Claude Code.
HOST_TOOLS = frozenset({
    "Read", "Grep", "Glob", "Edit", "Bash", "task_complete", "escalate_question",
    "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "LS", "WebFetch", "WebSearch", "TodoRead", "TodoWrite",
    "Task", "Agent", "Skill", "SlashCommand", "AskUserQuestion", "BashOutput", "KillBash", "KillShell", "ExitPlanMode",
    "EnterPlanMode", "ListMcpResourcesTool", "ReadMcpResourceTool", "ToolSearch", "LSP", "TaskCreate", "TaskUpdate",
    "TaskList", "TaskGet", "TaskOutput", "TaskStop", "Monitor", "SendMessage",
})  # fmt: skip
_CALL = re.compile(r"(?P<name>[A-Za-z_]+)\(.*\)\Z", re.DOTALL)


def host_name(text: str) -> str:
    """Return the tool that an entry names, without what it allows of it: `Bash` of `Bash(git log:*)`."""
    match = _CALL.match(text)
    return match["name"] if match else text
