"""Plans, memories and states in the file: whose they are, how much of them, and who can read them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from octoc_tools_agent.store import MAX_SKILL_USES, NoteStore, RowOwner

Tools = Any
MakeTools = Callable[..., Any]
OWNER = RowOwner("", "supervisor", "ann")


def _rows(tools: Tools, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(tools.folder / ".octo" / "agent.db")) as database:
        return database.execute(query).fetchall()


def test_a_plan(tools: Tools) -> None:
    """A new plan replaces the old one, and is read as JSON in its order."""
    assert tools("read_todos") == "No active plan."
    steps = [{"task": "look", "status": "completed"}, {"content": "write"}]
    assert tools("write_todos", todos=steps) == "Updated plan with 2 tasks."
    assert json.loads(tools("read_todos")) == [
        {"task": "look", "status": "completed"},
        {"task": "write", "status": "pending"},
    ]
    tools("write_todos", todos=[{"task": "rest", "status": "completed"}])
    plan, note = tools("read_todos").split("\n\n", 1)
    assert json.loads(plan) == [{"task": "rest", "status": "completed"}]
    assert note.startswith("[All tasks completed. For the next task, call write_todos with ONLY the new plan items")
    assert tools("write_todos", todos=[{"status": "pending"}]) == "! Error: each todo needs a text in `task`"


@pytest.mark.parametrize("completed, pending, kept", [(30, 5, (15, 5)), (30, 25, (0, 25)), (2, 18, (2, 18))])
def test_a_long_plan(tools: Tools, completed: int, pending: int, kept: tuple[int, int]) -> None:
    """A plan of more than 20 tasks loses its oldest completed tasks, and no other task."""
    steps = [{"task": f"done {one}", "status": "completed"} for one in range(completed)]
    steps += [{"task": f"to do {one}"} for one in range(pending)]
    assert tools("write_todos", todos=steps) == f"Updated plan with {sum(kept)} tasks."
    names = [one["task"] for one in json.loads(tools("read_todos"))]
    assert names == [one["task"] for one in steps[completed - kept[0] :]]


def test_memories(tools: Tools) -> None:
    """The long-term memory, the state and the memories of today and the days before are read together."""
    assert tools("read_memories") == "No recent memories found."
    today = datetime.now(UTC).date().isoformat()
    assert tools("write_memory", content="likes tea") == f"Memory saved to {today}.md"
    tools("write_memory", content="has a cat")
    assert tools("update_long_term_memory", content="# Ann\nA baker") == "MEMORY.md updated (2 lines)"
    assert tools("update_state_md", current_position="done", active_plan="").startswith("STATE.md updated at ")
    memory, state, day = tools("read_memories", days=1).split("\n\n---\n\n")
    assert memory == "# Ann\nA baker"
    assert state.startswith("# Project State\n\n_Last updated: ")
    assert state.endswith("\n\n## Current Position\ndone")
    assert [line.partition("] ")[2] for line in day.splitlines() if line.startswith("- ")] == ["likes tea", "has a cat"]
    assert day.startswith(f"# {today}\n\n- [")


def test_days(tmp_path: Path) -> None:
    """Days are read from the newest to the oldest asked for."""
    start = datetime(2027, 3, 10, 9, 30, tzinfo=UTC)
    for days in (5, 2, 1):
        clock = iter([start - timedelta(days=days)])
        NoteStore(tmp_path / "a.db", 10, 10, clock.__next__).add_memory(OWNER, f"{days}")
    store = NoteStore(tmp_path / "a.db", 10, 10, lambda: start)
    assert store.memories(OWNER, 3) == {"2027-03-09": [("09:30", "1")], "2027-03-08": [("09:30", "2")]}


def test_owners(tools: Tools) -> None:
    """Tenants, agents and users have nothing in common, also where their names look alike."""
    owners = [
        tools,
        tools.of(user="ben"),
        tools.of(user="ann", tenant="acme"),
        tools.of(user="ann", agent="other"),
        tools.of(tenant="ann"),
        tools.of(user="' OR 1=1 --"),
        tools.of(),
    ]
    for number, one in enumerate(owners):
        one("write_todos", todos=[{"task": f"task {number}"}])
        one("write_memory", content=f"memory {number}")
        one("update_long_term_memory", content=f"long {number}")
        one("update_state_md", active_plan=f"state {number}")
    for number, one in enumerate(owners):
        text = one("read_todos") + one("read_memories")
        for other in range(len(owners)):
            found = [f"{what} {other}" in text for what in ("task", "memory", "long", "state")]
            assert found == [number == other] * 4, (number, other)


@pytest.mark.parametrize(
    "tool, arguments, problem",
    [
        ("write_memory", {"content": "x" * 16_001}, "a memory has at most 16000 characters, and this one has 16001"),
        ("update_long_term_memory", {"content": "x" * 64_001}, "the long-term memory has at most 64000 characters"),
        ("update_state_md", {"active_plan": "x" * 64_000}, "the state has at most 64000 characters"),
        ("write_todos", {"todos": [{"task": "x" * 2001}]}, "a task has at most 2000 characters"),
        ("write_todos", {"todos": [{"task": "x"}] * 101}, "a plan has at most 100 open tasks, and this one has 101"),
    ],
)
def test_what_is_too_long(tools: Tools, tool: str, arguments: dict[str, Any], problem: str) -> None:
    """What is too long is refused in words, and what was there stays."""
    tools("write_todos", todos=[{"task": "stays"}])
    tools("update_long_term_memory", content="stays too")
    assert tools(tool, **arguments).startswith(f"! Error: {problem}")
    assert (tools("read_memories"), json.loads(tools("read_todos"))) == (
        "stays too",
        [{"task": "stays", "status": "pending"}],
    )


def test_old_memories_go(make_tools: MakeTools) -> None:
    """Above the limit the oldest memories of that owner go, and those of others stay."""
    tools = make_tools(memory_kb=2)
    other = tools.of(user="ben")
    other("write_memory", content="kept")
    for number in range(10):
        tools("write_memory", content=f"{number} " + "é" * 250)  # 502 bytes
    assert [row[0][0] for row in _rows(tools, "SELECT content FROM memories WHERE user = 'ann'")] == [
        "6",
        "7",
        "8",
        "9",
    ]
    assert "kept" in other("read_memories")


def test_the_file_has_a_limit(make_tools: MakeTools) -> None:
    """A file that is full is an error in words, and what was in it can still be read."""
    tools = make_tools(file_mb=1, memory_kb=10_000)
    texts = []
    for _ in range(100):
        texts.append(tools("write_memory", content="x" * 16_000))
        if texts[-1].startswith("!"):
            break
    assert texts[-1] == "! Error: the file of plans and memories cannot be used: database or disk is full"
    assert (tools.folder / ".octo" / "agent.db").stat().st_size <= 1024 * 1024
    assert len(_rows(tools, "SELECT id FROM memories")) == len(texts) - 1


def test_uses_of_skills_have_a_limit(tmp_path: Path) -> None:
    """Only the newest uses of skills are kept."""
    store = NoteStore(tmp_path / "a.db", 10, 10)
    store.note_skill(OWNER, "review", "first")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        row = "SELECT tenant, agent, user, skill, 'more', written FROM skills_used WHERE id = 1"
        columns = "tenant, agent, user, skill, request, written"
        for _ in range(MAX_SKILL_USES):
            database.execute(f"INSERT INTO skills_used ({columns}) {row}")
    store.note_skill(OWNER, "review", "last")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        requests = [row[0] for row in database.execute("SELECT request FROM skills_used ORDER BY id")]
    assert requests == ["more"] * (MAX_SKILL_USES - 1) + ["last"]


def test_a_person_reads_the_file(tools: Tools) -> None:
    """The file is SQLite with tables and columns in plain words, in WAL mode, for its owner alone."""
    tools("write_memory", content="likes tea")
    tools("write_todos", todos=[{"task": "bake"}])
    file = tools.folder / ".octo" / "agent.db"
    assert file.stat().st_mode & 0o777 == 0o600
    assert _rows(tools, "PRAGMA journal_mode") == [("wal",)]
    assert _rows(tools, "SELECT tenant, agent, user, content FROM memories") == [("", "supervisor", "ann", "likes tea")]
    assert _rows(tools, "SELECT number, task, status FROM todos") == [(1, "bake", "pending")]


def test_a_file_that_is_none(tools: Tools) -> None:
    """A file that is not a database, or of a later form, is an error in words."""
    file = tools.folder / ".octo" / "agent.db"
    file.parent.mkdir()
    file.write_text("not a database" * 100)
    assert tools("read_todos") == "! Error: the file of plans and memories cannot be used: file is not a database"
    file.unlink()
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 7")
    assert "its form 7 is of another version of octoc" in tools("read_todos")


def test_processes_write_at_the_same_time(tools: Tools) -> None:
    """Processes that open a new file at once all write to it, and nothing is lost."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from octoc_tools_agent.store import RowOwner, NoteStore\n"
        "store = NoteStore(Path(sys.argv[1]), 1024, 10)\n"
        "for number in range(20):\n"
        "    store.add_memory(RowOwner('', 'supervisor', 'ann'), f'{sys.argv[2]} {number}')\n"
    )
    path = str(tools.folder / ".octo" / "agent.db")
    running = [subprocess.Popen([sys.executable, "-c", program, path, str(one)]) for one in range(4)]
    assert [one.wait() for one in running] == [0] * 4
    assert sorted(row[0] for row in _rows(tools, "SELECT content FROM memories")) == sorted(
        f"{one} {number}" for one in range(4) for number in range(20)
    )


def test_a_write_that_is_killed(tools: Tools) -> None:
    """A process that is killed in the middle of a write leaves what was there, and no lock."""
    tools("write_todos", todos=[{"task": "stays"}])
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from octoc_tools_agent.store import RowOwner, NoteStore\n"
        "store = NoteStore(Path(sys.argv[1]), 1024, 10)\n"
        "with store._transaction() as database:\n"
        "    database.execute('DELETE FROM todos')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = str(tools.folder / ".octo" / "agent.db")
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == -9
    assert [one["task"] for one in json.loads(tools("read_todos"))] == ["stays"]
