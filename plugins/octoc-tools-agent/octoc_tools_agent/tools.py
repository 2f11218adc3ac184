"""The tools of the server, with the names, parameters and texts of Octo's tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from octoc.plugin import AgentRole, PythonTool, ToolResult, current_skills
from octoc_tools_agent.claude import run_claude
from octoc_tools_agent.host import HostFunction, HostFunctions, call_host
from octoc_tools_agent.notes import MAX_DAYS, STATUSES, NoteTools
from octoc_tools_agent.settings import AgentToolSettings
from octoc_tools_agent.store import NoteStore, RowOwner, StoreError

_END_S = 10.0
"""How long ending Claude Code may take, beyond its own time."""
_MAX_REQUEST_CHARS = 2000
_SUPERVISOR: tuple[AgentRole, ...] = ("supervisor",)
_RESEARCH: tuple[AgentRole, ...] = ("deep_research",)
_PROJECT: tuple[AgentRole, ...] = ("project",)

Arguments = Mapping[str, Any]


def python_tools(settings: AgentToolSettings, workspace: Path, functions: HostFunctions) -> Iterable[PythonTool]:
    """Yield the tools; `workspace` is the folder of relative paths."""
    store = NoteStore(settings.file(workspace), settings.memory_kb, settings.file_mb)
    return (
        *_planning(NoteTools(store)),
        *_memory(NoteTools(store)),
        _skill(store),
        *_of_the_host(functions),
        _claude_code(settings, workspace, functions.claude_code),
    )


def _planning(notes: NoteTools) -> Iterable[PythonTool]:
    todo = {
        "type": "object",
        "properties": {
            "task": _text("What to do"),
            "content": _text("Another name of `task`"),
            "status": {"type": "string", "enum": list(STATUSES), "default": STATUSES[0]},
        },
    }
    yield _tool(
        "write_todos",
        "Write or update the task plan, to break a complex task into steps before it is done. The new plan replaces "
        "the old one: for a new task write only its own steps.",
        {"todos": {"type": "array", "items": todo, "description": "Every step of the plan, in order"}},
        _noting(notes.write_todos),
        direct_for=(*_SUPERVISOR, *_RESEARCH),
    )
    yield _tool("read_todos", "Read the current task plan.", {}, _noting(notes.read_todos))
    yield _tool(
        "update_state_md",
        "Replace the project's state (STATE.md), after significant work or before a session ends.",
        {
            "current_position": _text("Brief description of where we are (phase, status)", ""),
            "active_plan": _text("Current active plan or goals", ""),
            "recent_decisions": _text("Key decisions made in this session", ""),
            "session_continuity": _text("Notes for resuming (stopped at, next steps)", ""),
        },
        _noting(notes.update_state_md),
    )


def _memory(notes: NoteTools) -> Iterable[PythonTool]:
    yield _tool(
        "write_memory",
        "Add an entry to today's memories: a preference or fact of the user, a decision, a lesson, an outcome.",
        {"content": _text("The memory to record, one line or a few lines")},
        _noting(notes.write_memory),
    )
    yield _tool(
        "read_memories",
        "Read the long-term memory (MEMORY.md), the project's state (STATE.md), and the memories of today and of the "
        "days before, the newest day first.",
        {
            "days": {
                "type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": 3,
                "description": "Number of days to look back",
            }
        },
        _noting(notes.read_memories),
    )  # fmt: skip
    yield _tool(
        "update_long_term_memory",
        "Replace the long-term memory (MEMORY.md): what to remember of the user, projects, preferences and lessons. "
        "Pass the whole new content; read the present one first with read_memories.",
        {"content": _text("The complete new content")},
        _noting(notes.update_long_term_memory),
    )


def _skill(store: NoteStore) -> PythonTool:
    async def handle(arguments: Arguments) -> ToolResult:
        name, request = arguments["skill_name"], arguments.get("user_request", "")
        skills = current_skills()
        names = () if skills is None else skills.names
        if skills is None or name not in names:
            available = ", ".join(sorted(names)) or "(none)"
            return _error(f"Unknown skill '{name}'. Available: {available}")
        change = await skills.use(name)
        if change.ok:
            try:
                await asyncio.to_thread(store.note_skill, RowOwner.of_call(), name, request[:_MAX_REQUEST_CHARS])
            except StoreError as error:
                return _error(str(error))
        parts = [f"[Skill: {name}]\n\n{change.block}" if change.block else change.text]
        parts += [f"User request: {request}"] if request else []
        return ToolResult.of_text("\n\n".join(parts), is_error=not change.ok)

    return _tool(
        "use_skill",
        "Use a skill by its name: returns its instructions, to follow for the user's request.",
        {
            "skill_name": _text("Name of the skill"),
            "user_request": _text("The user's original request or relevant context", ""),
        },
        handle,
    )


def _of_the_host(functions: HostFunctions) -> Iterable[PythonTool]:
    yield _tool(
        "schedule_task",
        "Schedule a task to run later, as for a reminder or a daily check.",
        {
            "task": _text("What to do, in plain words"),
            "schedule_type": {
                "type": "string", "enum": ["at", "every", "cron"], "default": "at",
                "description": "at: once; every: at an interval; cron: by an expression",
            },
            "spec": _text("When. at: 'in 2h', '2027-02-11T15:00Z'; every: '30m', '1d'; cron: '0 9 * * MON-FRI'"),
            "isolated": {
                "type": "boolean", "default": False, "description": "Run it in a conversation of its own",
            },
        },
        _asking(functions.schedule_task, "schedule_task"),
        required=("task", "spec"),
    )  # fmt: skip
    yield _tool(
        "send_file",
        "Send a file to the user, as a report or document; better than a long text in the conversation.",
        {
            "file_path": _text("Path of the file, absolute or relative to the workspace"),
            "caption": _text("Short description shown with the file", ""),
        },
        _asking(functions.send_file, "send_file"),
    )
    yield _tool(
        "task",
        "Give a task to a subagent, which works on its own and answers once.",
        {
            "description": _text("The task in detail, with all context, and what to return"),
            "subagent_type": _text("The type of the subagent"),
        },
        _asking(functions.task, "task"),
        direct_for=_RESEARCH,
    )


def _claude_code(settings: AgentToolSettings, workspace: Path, function: HostFunction | None) -> PythonTool:
    async def handle(arguments: Arguments) -> ToolResult:
        if function is not None:
            return await call_host(function, "claude_code", arguments)
        return await run_claude(arguments, settings, workspace)

    return _tool(
        "claude_code",
        "Run a task with Claude Code in a project's folder, with its code, history and tools. Returns its answer.",
        {
            "prompt": _text("The task or question for Claude Code"),
            "working_directory": _text("The folder to work in, by default the project's", ""),
            "agent": _text("Name of one of the project's agents (from .claude/agents/)", ""),
            "timeout": {
                "type": "integer", "minimum": 1, "default": settings.seconds,
                "description": f"Maximum seconds to wait, at most {settings.seconds}",
            },
        },
        handle,
        direct_for=_PROJECT,
        timeout_s=settings.seconds + _END_S,
    )  # fmt: skip


def _noting(work: Callable[[Arguments, RowOwner], str]) -> HostFunction:
    async def handle(arguments: Arguments) -> ToolResult:
        try:
            return ToolResult.of_text(await asyncio.to_thread(work, arguments, RowOwner.of_call()))
        except StoreError as error:
            return _error(str(error))

    return handle


def _asking(function: HostFunction | None, tool: str) -> HostFunction:
    async def handle(arguments: Arguments) -> ToolResult:
        return await call_host(function, tool, arguments)

    return handle


def _text(description: str, default: str | None = None) -> Mapping[str, Any]:
    return {"type": "string", "description": description, **({} if default is None else {"default": default})}


def _error(text: str) -> ToolResult:
    return ToolResult.of_text(text, is_error=True)


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    handler: HostFunction,
    *,
    direct_for: tuple[AgentRole, ...] = _SUPERVISOR,
    required: tuple[str, ...] | None = None,
    timeout_s: float | None = None,
) -> PythonTool:
    """Return a tool; what has no default is required, unless `required` says otherwise."""
    needed = [key for key, one in properties.items() if "default" not in one] if required is None else list(required)
    schema = {"type": "object", "properties": properties, "required": needed}
    return PythonTool(
        name=name, description=description, input_schema=schema, handler=handler, direct_for=direct_for,
        timeout_s=timeout_s,
    )  # fmt: skip
