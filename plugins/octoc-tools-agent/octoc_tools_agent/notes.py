"""The tools for plans, memories and states."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from octoc_tools_agent.store import NoteStore, RowOwner, StoreError, Todo

MAX_TODOS = 20
"""Tasks of a plan that are kept, if completed ones can go."""
MAX_OPEN_TODOS = 100
MAX_TASK_CHARS = 2000
MAX_MEMORY_CHARS = 16_000
MAX_DOCUMENT_CHARS = 64_000
MAX_DAYS = 366
STATUSES = ("pending", "in_progress", "completed")
_LONG_TERM, _STATE = "MEMORY.md", "STATE.md"
_SECTIONS = {
    "current_position": "Current Position",
    "active_plan": "Active Plan",
    "recent_decisions": "Recent Decisions",
    "session_continuity": "Session Continuity",
}
_ALL_DONE = (
    "\n\n[All tasks completed. For the next task, call write_todos with ONLY the new plan items — do not carry these "
    "over.]"
)

Arguments = Mapping[str, Any]


@attrs.frozen
class NoteTools:
    """The tools on one file. Each takes the arguments and the owner, and returns a text or raises StoreError."""

    store: NoteStore

    def write_todos(self, arguments: Arguments, owner: RowOwner) -> str:
        """Replace the plan."""
        todos = _pruned([_todo(one) for one in arguments["todos"]])
        self.store.write_todos(owner, todos)
        return f"Updated plan with {len(todos)} tasks."

    def read_todos(self, _: Arguments, owner: RowOwner) -> str:
        """Return the plan as JSON."""
        todos = self.store.todos(owner)
        if not todos:
            return "No active plan."
        text = json.dumps([attrs.asdict(one) for one in todos], indent=2, ensure_ascii=False)
        return text + (_ALL_DONE if all(one.status == "completed" for one in todos) else "")

    def write_memory(self, arguments: Arguments, owner: RowOwner) -> str:
        """Add an entry to today's memories."""
        content = _limited(arguments["content"], "a memory", MAX_MEMORY_CHARS)
        return f"Memory saved to {self.store.add_memory(owner, content)}.md"

    def read_memories(self, arguments: Arguments, owner: RowOwner) -> str:
        """Return the long-term memory, the state, and the entries of the last days."""
        documents = [self.store.document(owner, name).strip() for name in (_LONG_TERM, _STATE)]
        days = [
            "\n".join([f"# {day}", *(f"\n- [{time}] {content}" for time, content in entries)])
            for day, entries in self.store.memories(owner, arguments.get("days", 3)).items()
        ]
        return "\n\n---\n\n".join(filter(None, [*documents, *days])) or "No recent memories found."

    def update_long_term_memory(self, arguments: Arguments, owner: RowOwner) -> str:
        """Replace the long-term memory."""
        content = _limited(arguments["content"], "the long-term memory", MAX_DOCUMENT_CHARS)
        self.store.write_document(owner, _LONG_TERM, f"{content}\n")
        return f"MEMORY.md updated ({len(content.strip().splitlines())} lines)"

    def update_state_md(self, arguments: Arguments, owner: RowOwner) -> str:
        """Replace the state of the project."""
        now = self.store.now().strftime("%Y-%m-%d %H:%M UTC")
        parts = [f"# Project State\n\n_Last updated: {now}_"]
        parts += [f"## {title}\n{arguments[key]}" for key, title in _SECTIONS.items() if arguments.get(key)]
        text = _limited("\n\n".join(parts), "the state", MAX_DOCUMENT_CHARS)
        self.store.write_document(owner, _STATE, f"{text}\n")
        return f"STATE.md updated at {now}"


def _todo(written: Mapping[str, Any]) -> Todo:
    # Octo's tool calls it `task`, that of deepagents `content`.
    task = written.get("task") or written.get("content") or ""
    if not task:
        raise StoreError("Error: each todo needs a text in `task`")
    return Todo(_limited(task, "a task", MAX_TASK_CHARS), written.get("status", STATUSES[0]))


def _pruned(todos: Sequence[Todo]) -> list[Todo]:
    """Return a plan without the oldest of its completed tasks, if it is long. Source: Octo, planning tools."""
    pending = [one for one in todos if one.status != "completed"]
    if len(pending) > MAX_OPEN_TODOS:
        raise StoreError(f"Error: a plan has at most {MAX_OPEN_TODOS} open tasks, and this one has {len(pending)}")
    if len(todos) <= MAX_TODOS:
        return list(todos)
    completed = [one for one in todos if one.status == "completed"]
    return completed[len(completed) - max(0, MAX_TODOS - len(pending)) :] + pending


def _limited(text: str, what: str, most: int) -> str:
    if len(text) > most:
        raise StoreError(f"Error: {what} has at most {most} characters, and this one has {len(text)}; nothing changed")
    return text
