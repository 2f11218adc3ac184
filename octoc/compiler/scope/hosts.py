"""Tools of the host, which no server has: their names, and their form in agents' files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from octoc.choices import AgentRole
from octoc.compiler.model.resolved import Agent

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
TYPES_OF_TOOL: Mapping[str, tuple[AgentRole, ...]] = {
    **dict.fromkeys(
        (
            *("read_todos", "write_memory", "read_memories", "update_long_term_memory", "update_state_md"),
            *("use_skill", "schedule_task", "send_file"),
        ),
        ("supervisor",),
    ),
    "write_todos": ("supervisor", "deep_research"),
    "claude_code": ("project",),
}
"""Tool of Octo -> the types of agents that have it. Source: Octo, tool distribution by agent type."""
_OF_DEEP_AGENTS = frozenset({"ls", "read_file", "write_file", "edit_file", "glob", "grep", "task", "execute"})
_CALL = re.compile(r"(?P<name>[A-Za-z_]+)\(.*\)\Z", re.DOTALL)


def restricts_host_tool(text: str) -> bool:
    """Tell whether an entry has the form `Bash(git log:*)`, which only tools of the host have."""
    return _CALL.match(text) is not None


def host_name(text: str) -> str:
    """Return the tool that an entry names, without its restriction: `Bash` for `Bash(git log:*)`."""
    match = _CALL.match(text)
    return match["name"] if match else text


def role_of(agent: Agent) -> AgentRole:
    """Return the role of an agent in Octo's table: `worker` for all types that it does not have."""
    roles: tuple[AgentRole, ...] = get_args(AgentRole)
    return next((role for role in roles if role == agent.source.type), "worker")


def is_of_type(text: str, agent: Agent) -> bool:
    """Tell whether Octo gives agents of this type a tool of this name, whatever their `tools`."""
    role = role_of(agent)
    return role in TYPES_OF_TOOL.get(text, ()) or (role == "deep_research" and text in _OF_DEEP_AGENTS)
