"""Tools of the host, which no server has: their names, and their form in agents' files."""

from __future__ import annotations

import re

# Octo's built-in and lifecycle tools, and those of Claude Code.
# Source: Claude Code, tools reference (2.1), with the names that older versions had.
HOST_TOOLS = frozenset({
    "Read", "Grep", "Glob", "Edit", "Bash", "task_complete", "escalate_question",
    "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "LS", "WebFetch", "WebSearch", "TodoRead", "TodoWrite",
    "Task", "Agent", "Skill", "SlashCommand", "AskUserQuestion", "BashOutput", "KillBash", "KillShell", "ExitPlanMode",
    "EnterPlanMode", "ListMcpResourcesTool", "ReadMcpResourceTool", "ToolSearch", "LSP", "TaskCreate", "TaskUpdate",
    "TaskList", "TaskGet", "TaskOutput", "TaskStop", "Monitor", "SendMessage", "Artifact", "Config", "CronCreate",
    "CronDelete", "CronList", "EnterWorktree", "ExitWorktree", "PowerShell", "PushNotification", "REPL",
    "ReadMcpResourceDirTool", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendUserFile",
    "ShareOnboardingGuide", "StructuredOutput", "TeamCreate", "TeamDelete", "WaitForMcpServers", "Workflow",
})  # fmt: skip
_CALL = re.compile(r"(?P<name>[A-Za-z_]+)\(.*\)\Z", re.DOTALL)


def restricts_host_tool(text: str) -> bool:
    """Tell whether an entry has the form `Bash(git log:*)`, which only tools of the host have."""
    return _CALL.match(text) is not None


def host_name(text: str) -> str:
    """Return the tool that an entry names, without its restriction: `Bash` for `Bash(git log:*)`."""
    match = _CALL.match(text)
    return match["name"] if match else text
