"""What was left out of results, kept under handles: in memory, then in a private folder, for a while."""

from __future__ import annotations

import functools
import logging
import os
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import attrs

logger = logging.getLogger("octoc.runtime")

ENTRY_OVERHEAD = 512
"""Bytes that an entry is taken to cost beyond its text, so that many small ones are bounded too."""


P = ParamSpec("P")
T = TypeVar("T")


def _locked(method: Callable[Concatenate[ResultStore, P], T]) -> Callable[Concatenate[ResultStore, P], T]:
    """Let one thread at a time into a method of the store."""

    @functools.wraps(method)
    def locked(self: ResultStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


@attrs.define(kw_only=True, eq=False)
class _Entry:
    owner: Hashable
    sizes: tuple[int, ...]
    data: bytes | None
    path: Path | None = None

    @property
    def size(self) -> int:
        return sum(self.sizes) + ENTRY_OVERHEAD


class ResultStore:
    """Texts under handles that nobody can guess, each readable by the owner that kept it and by nobody else.

    What is over `memory_bytes` goes to files in a temporary folder of mode 0700, up to `disk_bytes`; what was not used
    for longest gives way. A text is forgotten `seconds` after it was kept, by `clock`. 0 bytes is no such place.
    Contents are never logged. Large results are cut in threads, so it may be used from several at once.
    """

    def __init__(self, *, memory_bytes: int, disk_bytes: int, seconds: float, clock: Callable[[], float]) -> None:
        self._memory_bytes = memory_bytes
        self._disk_bytes = disk_bytes
        self._seconds = seconds
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._ends: deque[tuple[float, str]] = deque()
        self._gone: deque[Hashable] = deque()
        self._in_memory = 0
        self._on_disk = 0
        self._files = 0
        self._folder: Path | None = None
        self._remove_folder: Callable[[], object] | None = None
        self._closed = False
        self._lock = threading.RLock()

    @property
    def enabled(self) -> bool:
        """Whether anything can be kept at all."""
        return not self._closed and self._memory_bytes + self._disk_bytes > 0 and self._seconds > 0

    @property
    def memory_used(self) -> int:
        """Bytes in memory now."""
        return self._in_memory

    @property
    def disk_used(self) -> int:
        """Bytes on disk now."""
        return self._on_disk

    @property
    def folder(self) -> Path | None:
        """Where the files are; None until something did not fit into memory."""
        return self._folder

    @_locked
    def resize(self, *, memory_bytes: int, disk_bytes: int, seconds: float) -> None:
        """Take other limits from now on: what is over them goes, and nothing stays for longer than `seconds`."""
        self._memory_bytes, self._disk_bytes, self._seconds = memory_bytes, disk_bytes, seconds
        latest = self._clock() + seconds
        self._ends = deque((min(end, latest), handle) for end, handle in self._ends)
        self._expire()
        self._bound_disk(disk_bytes)
        self._bound_memory()

    @_locked
    def keep(self, owner: Hashable, text: str | Sequence[str]) -> str | None:
        """Keep a text, or the texts of several parts. Returns its handle, or None where it could not be kept."""
        if not self.enabled:
            return None
        import secrets  # loads OpenSSL, which only a result that is too long is worth

        parts = [part.encode("utf-8", "surrogatepass") for part in ([text] if isinstance(text, str) else text)]
        entry = _Entry(owner=owner, sizes=tuple(map(len, parts)), data=b"".join(parts))
        self._expire()
        if entry.size > self._memory_bytes:
            if not self._spill(entry):
                return None
        else:
            self._in_memory += entry.size
        handle = f"r-{secrets.token_urlsafe(12)}"
        self._entries[handle] = entry
        self._ends.append((self._clock() + self._seconds, handle))
        self._bound_memory()
        return handle

    @_locked
    def parts(self, owner: Hashable, handle: str) -> int | None:
        """Return how many parts are kept under a handle; None for one that is unknown, forgotten or another owner's."""
        entry = self._find(owner, handle)
        return None if entry is None else len(entry.sizes)

    @_locked
    def text(self, owner: Hashable, handle: str, part: int = 0) -> str | None:
        """Return a part of what is kept; None for a handle that is unknown, forgotten or another owner's.

        Raises: IndexError where there is no such part.
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
            read = self._read(entry, start, size)
            if read is None:
                self._drop(handle)
                return None
            data = read
        self._entries.move_to_end(handle)
        return data.decode("utf-8", "surrogatepass")

    @_locked
    def forget(self, owner: Hashable) -> None:
        """Forget all that `owner` kept."""
        for handle in [handle for handle, entry in self._entries.items() if entry.owner == owner]:
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
        self._in_memory = self._on_disk = 0
        if self._remove_folder is not None:
            self._remove_folder()

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

    def _drop(self, handle: str) -> None:
        entry = self._entries.pop(handle, None)
        if entry is None:
            return
        if entry.path is None:
            self._in_memory -= entry.size
            return
        self._on_disk -= entry.size
        self._unlink(entry.path)

    def _unlink(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._note_disk("removed", error)

    def _bound_memory(self) -> None:
        # From the one not used for longest; what cannot go to disk is forgotten.
        waiting = iter([handle for handle, entry in self._entries.items() if entry.path is None])
        while self._in_memory > self._memory_bytes:
            handle = next(waiting)
            entry = self._entries[handle]
            size = entry.size
            if self._spill(entry):
                self._in_memory -= size
            else:
                self._drop(handle)

    def _bound_disk(self, most: int) -> None:
        for handle in [handle for handle, entry in self._entries.items() if entry.path is not None]:
            if self._on_disk <= most:
                break
            self._drop(handle)

    def _spill(self, entry: _Entry) -> bool:
        """Move an entry's text to a file; False leaves it as it was."""
        if entry.data is None or entry.size > self._disk_bytes:
            return False
        self._bound_disk(self._disk_bytes - entry.size)
        path: Path | None = None
        try:
            self._files += 1
            path = self._place() / str(self._files)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(entry.data)
        except OSError as error:
            self._note_disk("written", error)
            if path is not None:
                self._unlink(path)
            return False
        entry.path, entry.data = path, None
        self._on_disk += entry.size
        return True

    def _place(self) -> Path:
        if self._folder is None:
            import shutil
            import tempfile

            self._folder = Path(tempfile.mkdtemp(prefix="octoc-results-"))
            # Also at the end of a process that never closed its runtime.
            self._remove_folder = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _read(self, entry: _Entry, start: int, size: int) -> bytes | None:
        if entry.path is None:
            return None
        try:
            with entry.path.open("rb") as file:
                file.seek(start)
                data = file.read(size)
        except OSError as error:
            self._note_disk("read", error)
            return None
        return data if len(data) == size else None

    def _note_disk(self, what: str, error: OSError) -> None:
        logger.warning("a kept result could not be %s: %s", what, error.strerror or type(error).__name__)
