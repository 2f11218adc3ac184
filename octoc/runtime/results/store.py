"""Cut results, kept whole under handles: in memory, then in a private folder, for a while."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import attrs

from octoc.runtime.results.folder import ResultFolder
from octoc.runtime.results.shelf import Shelf
from octoc.runtime.shares import NOBODY

logger = logging.getLogger("octoc.runtime")

ENTRY_OVERHEAD = 512
"""Bytes that an entry is taken to cost beyond its text, so that many small ones are bounded too."""


class LostResultError(Exception):
    """A text was kept, and its file is gone or was changed."""


P = ParamSpec("P")
T = TypeVar("T")


def _locked(method: Callable[Concatenate[ResultStore, P], T]) -> Callable[Concatenate[ResultStore, P], T]:
    """Let one thread at a time into a method of the store."""

    @functools.wraps(method)
    def locked(self: ResultStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._process != os.getpid():
            # A thread of the parent may have held the lock at the fork, and would never release it here.
            self._process, self._lock = os.getpid(), threading.RLock()
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


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
    """Texts under handles that nobody can guess, each readable by the owner that kept it and by nobody else.

    What is over `memory_bytes` goes to files in a temporary folder of mode 0700, up to `disk_bytes`. In each place the
    account with most bytes gives way, with the text that it did not use for longest. A text is forgotten `seconds`
    after it was kept, by `clock`. 0 bytes is no such place. Contents are never logged. Large results are cut in
    threads, so it may be used from several at once. A forked child can read what its parent kept, and deletes nothing
    of it.
    """

    def __init__(self, *, memory_bytes: int, disk_bytes: int, seconds: float, clock: Callable[[], float]) -> None:
        self._memory = Shelf(memory_bytes)
        self._disk = Shelf(disk_bytes)
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
        """Whether anything can be kept at all."""
        return not self._closed and self._memory.limit + self._disk.limit > 0 and self._seconds > 0

    @property
    def memory_used(self) -> int:
        """Bytes in memory now."""
        return self._memory.used

    @property
    def disk_used(self) -> int:
        """Bytes on disk now."""
        return self._disk.used

    @property
    def folder(self) -> Path | None:
        """Where the files are; None until something did not fit into memory."""
        return self._folder.path

    @_locked
    def resize(self, *, memory_bytes: int, disk_bytes: int, seconds: float) -> None:
        """Take other limits from now on: what is over them goes, and nothing stays for longer than `seconds`."""
        self._memory.limit, self._disk.limit, self._seconds = memory_bytes, disk_bytes, seconds
        latest = self._clock() + seconds
        self._ends = deque((min(end, latest), handle) for end, handle in self._ends)
        self._expire()
        while (handle := self._disk.next_out(NOBODY)) is not None:
            self._drop(handle)
        self._bound_memory(NOBODY)

    @_locked
    def keep(
        self, owner: Hashable, text: str | Sequence[str], *, account: str = NOBODY, source: Hashable = None
    ) -> str | None:
        """Keep a text, or the texts of several parts. Returns its handle, or None where it could not be kept.

        Args:
            account: whose share of memory and disk the text uses.
            source: what gave the text, for `forget` and `source`.
        """
        if not self.enabled:
            return None
        import secrets  # loads OpenSSL, which only a result that is too long is worth

        parts = [part.encode("utf-8", "surrogatepass") for part in ([text] if isinstance(text, str) else text)]
        sizes = tuple(map(len, parts))
        entry = _Entry(owner=owner, account=account, source=source, sizes=sizes, data=b"".join(parts))
        self._expire()
        handle = f"r-{secrets.token_urlsafe(12)}"
        if entry.size > self._memory.limit:
            if not self._spill(handle, entry):
                return None
        else:
            self._memory.add(account, handle, entry.size)
        self._entries[handle] = entry
        self._ends.append((self._clock() + self._seconds, handle))
        self._bound_memory(account)
        return handle if handle in self._entries else None

    @_locked
    def parts(self, owner: Hashable, handle: str) -> int | None:
        """Return how many parts are kept under a handle; None for one that is unknown, forgotten or another owner's."""
        entry = self._find(owner, handle)
        return None if entry is None else len(entry.sizes)

    @_locked
    def text(self, owner: Hashable, handle: str, part: int = 0) -> str | None:
        """Return a part of what is kept; None for a handle that is unknown, forgotten or another owner's.

        Raises: IndexError where there is no such part; LostResultError where the file is gone or was changed, once, as
        the handle is forgotten then.
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
        """Return what gave a text of `owner`; None where nobody said it, or no such text is kept."""
        entry = self._find(owner, handle)
        return None if entry is None else entry.source

    @_locked
    def forget(self, owner: Hashable, unwanted: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Forget what `owner` kept of the sources that are `unwanted`: of all unless told otherwise."""
        for handle in [handle for handle, entry in self._entries.items() if entry.owner == owner]:
            if unwanted(self._entries[handle].source):
                self._drop(handle)

    def abandon(self, owner: Hashable) -> None:
        """Note that `owner` is gone: its texts are forgotten with the next use. For finalizers, which come any time."""
        self._gone.append(owner)

    @_locked
    def close(self) -> None:
        """Forget everything and remove the folder; idempotent, and nothing is kept any more."""
        self._closed = True
        self._gone.clear()
        self._entries.clear()
        self._ends.clear()
        self._memory.clear()
        self._disk.clear()
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
        return self._memory if entry.path is None else self._disk

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
        # What cannot go to disk is forgotten.
        while (handle := self._memory.next_out(asking)) is not None:
            entry = self._entries[handle]
            if self._spill(handle, entry):
                self._memory.remove(entry.account, handle)
            else:
                self._drop(handle)

    def _spill(self, handle: str, entry: _Entry) -> bool:
        """Move an entry's text to a file; False leaves it as it was."""
        if entry.data is None or entry.size > self._disk.limit:
            return False
        try:
            while (oldest := self._disk.next_out(entry.account, entry.size)) is not None:
                self._drop(oldest)
            entry.path, entry.data = self._folder.write(entry.data), None
        except LookupError:
            return False  # the account holds most without having anything on disk
        except OSError as error:
            self._note_disk("written", error)
            return False
        self._disk.add(entry.account, handle, entry.size)
        return True

    def _note_disk(self, what: str, error: OSError) -> None:
        logger.warning("a kept result could not be %s: %s", what, error.strerror or error)
