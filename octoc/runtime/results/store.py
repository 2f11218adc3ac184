"""The store of whole results under handles: in memory, then in a private folder, for a limited time."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import attrs

from octoc.runtime.results.folder import ResultFolder
from octoc.runtime.shares import NO_ACCOUNT, account_to_evict

logger = logging.getLogger("octoc.runtime")

ENTRY_OVERHEAD = 512
"""Bytes that an entry counts beyond its text, so that many small entries are limited too."""


class LostResultError(Exception):
    """The file of a kept text was removed or changed."""


P = ParamSpec("P")
T = TypeVar("T")


def _locked(method: Callable[Concatenate[ResultStore, P], T]) -> Callable[Concatenate[ResultStore, P], T]:
    """Let only one thread at a time run a method of the store."""

    @functools.wraps(method)
    def locked(self: ResultStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._process != os.getpid():
            # A thread of the parent process may have held the lock at the fork, and cannot release it here.
            self._process, self._lock = os.getpid(), threading.RLock()
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class Shelf:
    """Handles of texts in memory or on disk, at most `limit` bytes; the account with most loses its oldest text."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._bytes: dict[str, int] = {}
        self._sizes: dict[str, OrderedDict[str, int]] = {}

    def add(self, account: str, handle: str, size: int) -> None:
        """Add a text of `size` bytes; `used` may then be above the limit."""
        self.used += size
        self._bytes[account] = self._bytes.get(account, 0) + size
        self._sizes.setdefault(account, OrderedDict())[handle] = size

    def remove(self, account: str, handle: str) -> None:
        """Remove a text."""
        size = self._sizes[account].pop(handle)
        self.used -= size
        self._bytes[account] -= size
        if not self._sizes[account]:
            del self._sizes[account], self._bytes[account]

    def touch(self, account: str, handle: str) -> None:
        """Record that a text was used."""
        self._sizes[account].move_to_end(handle)

    def next_out(self, asking: str, size: int = 0) -> str | None:
        """Return the handle to remove before `size` more bytes of `asking` fit; None if there is room.

        Raises: LookupError if `asking` itself must make room and has nothing here.
        """
        if self.used + size <= self.limit:
            return None
        loser = account_to_evict({**self._bytes, asking: self._bytes.get(asking, 0) + size}, asking)
        return next(iter(self._sizes[loser]))

    def clear(self) -> None:
        """Remove all texts."""
        self.used = 0
        self._bytes.clear()
        self._sizes.clear()


@attrs.define(kw_only=True, eq=False)
class _Entry:
    owner: Hashable
    account: str
    source: Hashable
    sizes: tuple[int, ...]
    data: bytes | None
    path: Path | None = None

    @property
    def size(self) -> int:
        return sum(self.sizes) + ENTRY_OVERHEAD


class ResultStore:
    """Texts under handles that cannot be guessed, each readable only by the owner that kept it.

    Texts beyond `memory_bytes` go to files in a temporary folder of mode 0700, up to `disk_bytes`; 0 bytes disables
    the place. When a place is full, the account with most bytes there loses its least recently used text. A text
    expires `seconds` after it was kept, by `clock`. Contents are never logged. Several threads may use the store, as
    large results are cut in threads. A forked child can read its parent's texts, and deletes none of them.
    """

    def __init__(self, *, memory_bytes: int, disk_bytes: int, seconds: float, clock: Callable[[], float]) -> None:
        self.memory = Shelf(memory_bytes)
        self.disk = Shelf(disk_bytes)
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._ends: deque[tuple[float, str]] = deque()
        self._gone: deque[Hashable] = deque()
        self._folder = ResultFolder()
        self._process = os.getpid()
        self._closed = False
        self._lock = threading.RLock()

    @property
    def enabled(self) -> bool:
        """Whether texts can be kept at all."""
        return not self._closed and self.memory.limit + self.disk.limit > 0 and self._seconds > 0

    @property
    def folder(self) -> Path | None:
        """The folder of the files; None until a text does not fit into memory."""
        return self._folder.path

    @_locked
    def resize(self, *, memory_bytes: int, disk_bytes: int, seconds: float) -> None:
        """Change the limits: texts beyond them are removed, and none stays for longer than `seconds`."""
        self.memory.limit, self.disk.limit, self._seconds = memory_bytes, disk_bytes, seconds
        latest = self._clock() + seconds
        self._ends = deque((min(end, latest), handle) for end, handle in self._ends)
        self._expire()
        while (handle := self.disk.next_out(NO_ACCOUNT)) is not None:
            self._drop(handle)
        self._bound_memory(NO_ACCOUNT)

    @_locked
    def keep(
        self,
        owner: Hashable,
        text: str | Sequence[str],
        *,
        account: str = NO_ACCOUNT,
        source: Hashable = None,
        handle: str | None = None,
    ) -> str | None:
        """Keep a text, or the texts of several parts. Returns its handle, or None if it could not be kept.

        Args:
            account: the account whose share of memory and disk the text uses.
            source: the origin of the text, for `forget` and `source`.
            handle: the handle under which another process keeps it; by default a new one.
        """
        if not self.enabled:
            return None
        import secrets  # loads OpenSSL, which only long results need

        parts = [part.encode("utf-8", "surrogatepass") for part in ([text] if isinstance(text, str) else text)]
        sizes = tuple(map(len, parts))
        entry = _Entry(owner=owner, account=account, source=source, sizes=sizes, data=b"".join(parts))
        self._expire()
        handle = handle or f"r-{secrets.token_urlsafe(12)}"
        self._drop(handle)
        if entry.size > self.memory.limit:
            if not self._spill(handle, entry):
                return None
        else:
            self.memory.add(account, handle, entry.size)
        self._entries[handle] = entry
        self._ends.append((self._clock() + self._seconds, handle))
        self._bound_memory(account)
        return handle if handle in self._entries else None

    @_locked
    def parts(self, owner: Hashable, handle: str) -> int | None:
        """Return the number of parts under a handle; None for an unknown or expired handle, or another owner's."""
        entry = self._find(owner, handle)
        return None if entry is None else len(entry.sizes)

    @_locked
    def text(self, owner: Hashable, handle: str, part: int = 0) -> str | None:
        """Return a part of a kept text; None for an unknown or expired handle, or another owner's.

        Raises: IndexError for an unknown part; LostResultError, once, if the file was removed or changed.
        """
        entry = self._find(owner, handle)
        if entry is None:
            return None
        if not 0 <= part < len(entry.sizes):
            raise IndexError(part)
        start, size = sum(entry.sizes[:part]), entry.sizes[part]
        if entry.data is not None:
            data = entry.data[start : start + size]
        else:
            assert entry.path is not None  # noqa: S101  # what is not in memory is in a file
            try:
                data = self._folder.read(entry.path, start, size)
            except OSError as error:
                self._note_disk("read", error)
                self._drop(handle)
                raise LostResultError(handle) from None
        self._shelf(entry).touch(entry.account, handle)
        return data.decode("utf-8", "surrogatepass")

    @_locked
    def source(self, owner: Hashable, handle: str) -> Hashable:
        """Return the source of a text of `owner`; None if it has none, or no such text is kept."""
        entry = self._find(owner, handle)
        return None if entry is None else entry.source

    @_locked
    def forget(self, owner: Hashable, unwanted: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Remove the texts of `owner` whose source is `unwanted`, by default all of them."""
        for handle in [handle for handle, entry in self._entries.items() if entry.owner == owner]:
            if unwanted(self._entries[handle].source):
                self._drop(handle)

    def abandon(self, owner: Hashable) -> None:
        """Remove all texts of `owner` with the next use. Finalizers call it, which may run at any time."""
        self._gone.append(owner)

    @_locked
    def close(self) -> None:
        """Remove all texts and the folder, and keep no more texts; idempotent."""
        self._closed = True
        self._gone.clear()
        self._entries.clear()
        self._ends.clear()
        self.memory.clear()
        self.disk.clear()
        self._folder.close()

    def _find(self, owner: Hashable, handle: str) -> _Entry | None:
        self._expire()
        entry = self._entries.get(handle)
        return entry if entry is not None and entry.owner == owner else None

    def _expire(self) -> None:
        while self._gone:
            self.forget(self._gone.popleft())
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            self._drop(self._ends.popleft()[1])

    def _shelf(self, entry: _Entry) -> Shelf:
        return self.memory if entry.path is None else self.disk

    def _drop(self, handle: str) -> None:
        entry = self._entries.pop(handle, None)
        if entry is None:
            return
        self._shelf(entry).remove(entry.account, handle)
        if entry.path is None:
            return
        try:
            self._folder.unlink(entry.path)
        except OSError as error:
            self._note_disk("removed", error)

    def _bound_memory(self, asking: str) -> None:
        # A text that does not fit on disk is removed.
        while (handle := self.memory.next_out(asking)) is not None:
            entry = self._entries[handle]
            if self._spill(handle, entry):
                self.memory.remove(entry.account, handle)
            else:
                self._drop(handle)

    def _spill(self, handle: str, entry: _Entry) -> bool:
        """Move an entry's text to a file. Returns False, and changes nothing, if that fails."""
        if entry.data is None or entry.size > self.disk.limit:
            return False
        try:
            while (oldest := self.disk.next_out(entry.account, entry.size)) is not None:
                self._drop(oldest)
            entry.path, entry.data = self._folder.write(entry.data), None
        except LookupError:
            return False  # the account would hold most bytes with this text alone
        except OSError as error:
            self._note_disk("written", error)
            return False
        self.disk.add(entry.account, handle, entry.size)
        return True

    def _note_disk(self, what: str, error: OSError) -> None:
        logger.warning("a kept result could not be %s: %s", what, error.strerror or error)
