"""Plans, memories, states and uses of skills, in one SQLite file; each row belongs to a tenant, an agent and a user."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs

from octoc.plugin import current_caller

_VERSION = 1
_WAIT_S = 20.0
_KIB, _MIB, _PAGE = 1024, 1024 * 1024, 4096
MAX_SKILL_USES = 1000
_OWNER = "tenant TEXT NOT NULL, agent TEXT NOT NULL, user TEXT NOT NULL"
_TABLES = (
    (
        f"CREATE TABLE todos ({_OWNER}, number INTEGER NOT NULL, task TEXT NOT NULL, status TEXT NOT NULL,"
        " written TEXT NOT NULL, PRIMARY KEY (tenant, agent, user, number))"
    ),
    (
        f"CREATE TABLE memories (id INTEGER PRIMARY KEY, {_OWNER}, day TEXT NOT NULL, time TEXT NOT NULL,"
        " content TEXT NOT NULL)"
    ),
    "CREATE INDEX memories_of_owner ON memories (tenant, agent, user, day)",
    (
        f"CREATE TABLE documents ({_OWNER}, name TEXT NOT NULL, content TEXT NOT NULL, written TEXT NOT NULL,"
        " PRIMARY KEY (tenant, agent, user, name))"
    ),
    (
        f"CREATE TABLE skills_used (id INTEGER PRIMARY KEY, {_OWNER}, skill TEXT NOT NULL, request TEXT NOT NULL,"
        " written TEXT NOT NULL)"
    ),
)
_OWN = "tenant = :tenant AND agent = :agent AND user = :user"


class StoreError(Exception):
    """The file cannot be read or written; the text is for the model."""


@attrs.frozen
class Todo:
    """A step of a plan; `status` is `pending`, `in_progress` or `completed`."""

    task: str
    status: str


@attrs.frozen
class RowOwner:
    """Whose rows a call reads and writes. Empty: no tenant, or no user."""

    tenant: str
    agent: str
    user: str

    @classmethod
    def of_call(cls) -> RowOwner:
        """Return the owner of the call under way."""
        caller = current_caller()
        return cls(caller.tenant or "", caller.agent, caller.user or "")


@attrs.frozen
class NoteStore:
    """The file. Each method is one transaction on a connection of its own, and raises StoreError.

    Args:
        path: the file, made when it is first used, for its owner's eyes only.
        memory_kb: how many KiB of memories an owner keeps.
        file_mb: how many MiB the file may have.
        now: returns the time.
    """

    path: Path
    memory_kb: int
    file_mb: int
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def write_todos(self, owner: RowOwner, todos: Sequence[Todo]) -> None:
        """Replace a plan."""
        with self._transaction() as database:
            database.execute(f"DELETE FROM todos WHERE {_OWN}", attrs.asdict(owner))  # noqa: S608  # _OWN is fixed
            rows = [(*attrs.astuple(owner), number, *attrs.astuple(one)) for number, one in enumerate(todos, 1)]
            database.executemany(
                "INSERT INTO todos VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row, self._moment()) for row in rows]
            )

    def todos(self, owner: RowOwner) -> tuple[Todo, ...]:
        """Return a plan in its order."""
        with self._transaction() as database:
            query = f"SELECT task, status FROM todos WHERE {_OWN} ORDER BY number"  # noqa: S608
            return tuple(Todo(*row) for row in database.execute(query, attrs.asdict(owner)))

    def add_memory(self, owner: RowOwner, content: str) -> str:
        """Add an entry to the memories of today; return the day. The oldest entries above the limit are deleted."""
        at = self.now()
        day = at.date().isoformat()
        with self._transaction() as database:
            database.execute(
                "INSERT INTO memories (tenant, agent, user, day, time, content) VALUES (?, ?, ?, ?, ?, ?)",
                (*attrs.astuple(owner), day, at.strftime("%H:%M"), content),
            )
            columns = "id, sum(length(CAST(content AS BLOB))) OVER (ORDER BY id DESC) AS bytes"
            newest_first = f"SELECT {columns} FROM memories WHERE {_OWN}"  # noqa: S608
            database.execute(
                f"DELETE FROM memories WHERE {_OWN}"  # noqa: S608
                f" AND id IN (SELECT id FROM ({newest_first}) WHERE bytes > :most)",
                {**attrs.asdict(owner), "most": self.memory_kb * _KIB},
            )
        return day

    def memories(self, owner: RowOwner, days: int) -> dict[str, list[tuple[str, str]]]:
        """Return day -> its entries as (time, content), of today and the `days` before, the newest day first."""
        first = (self.now().date() - timedelta(days=days)).isoformat()
        found: dict[str, list[tuple[str, str]]] = {}
        with self._transaction() as database:
            query = (
                f"SELECT day, time, content FROM memories WHERE {_OWN} AND day >= :first"  # noqa: S608
                " ORDER BY day DESC, id"
            )
            for day, time, content in database.execute(query, {**attrs.asdict(owner), "first": first}):
                found.setdefault(day, []).append((time, content))
        return found

    def write_document(self, owner: RowOwner, name: str, content: str) -> None:
        """Replace a document."""
        with self._transaction() as database:
            row = (*attrs.astuple(owner), name, content, self._moment())
            database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)", row)

    def document(self, owner: RowOwner, name: str) -> str:
        """Return a document; empty if the owner has none."""
        with self._transaction() as database:
            query = f"SELECT content FROM documents WHERE {_OWN} AND name = :name"  # noqa: S608
            row = database.execute(query, {**attrs.asdict(owner), "name": name}).fetchone()
        return "" if row is None else str(row[0])

    def note_skill(self, owner: RowOwner, skill: str, request: str) -> None:
        """Note that an agent used a skill, and for what; only the newest notes are kept."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO skills_used (tenant, agent, user, skill, request, written) VALUES (?, ?, ?, ?, ?, ?)",
                (*attrs.astuple(owner), skill, request, self._moment()),
            )
            database.execute(
                f"DELETE FROM skills_used WHERE {_OWN} AND id NOT IN"  # noqa: S608
                f" (SELECT id FROM skills_used WHERE {_OWN} ORDER BY id DESC LIMIT {MAX_SKILL_USES})",
                attrs.asdict(owner),
            )

    def _moment(self) -> str:
        return self.now().strftime("%Y-%m-%d %H:%M:%S UTC")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(self._opened()) as database:
                try:
                    yield database
                    database.execute("COMMIT")
                except BaseException:
                    with contextlib.suppress(sqlite3.Error):
                        database.execute("ROLLBACK")
                    raise
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise StoreError(f"Error: the file of plans and memories cannot be used: {reason}") from None

    def _opened(self) -> sqlite3.Connection:
        """Return a connection in a transaction that may write, and no other one may until it ends."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        database = sqlite3.connect(self.path, timeout=_WAIT_S, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA max_page_count = {self.file_mb * _MIB // _PAGE}")
            database.execute("BEGIN IMMEDIATE")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise sqlite3.DatabaseError(f"its form {version} is of another version of octoc")
            if not version:
                for table in _TABLES:
                    database.execute(table)
                database.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            database.close()
            raise
        return database
