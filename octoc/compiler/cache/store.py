"""Results of a build for the next one: JSON and arrays, in a folder that users can delete at any time.

The folder is in the user's own cache, never in the workspace, since a repository could bring entries with it.

A caller's key covers all that the value depends on, and octoc's version is added, so that no entry is stale. Each entry
ends with the digest of its content: a damaged entry is a miss, and so is an unreadable folder. The cache keeps the
newest entries of each kind, so that it does not fill the disk. Callers store no secrets.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octoc import __version__
from octoc.bundle.arrays import npy_bytes, npy_view
from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.refusal import BundleError
from octoc.data import schemas_dir
from octoc.plugin.folders import is_private, user_cache
from octoc.whole_files import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ENTRIES = 128
"""Maximum number of entries of one kind in one folder. A gate has about ten, one for each of its arrays."""

MOST_WORKSPACES = 128
"""Maximum number of workspaces' folders; the oldest one is deleted first."""
WORKSPACES = "workspaces"

_TRAILER = 66  # a newline, 64 hex digits, a newline


def cache_key(*parts: Any) -> str:
    """Return the key of a value made from `parts`, which are plain JSON values."""
    return sha256_hex(canonical_json(parts))


@functools.cache
def code_stamp() -> str:
    """Return a stamp that changes when octoc's code or schemas are edited in a checkout.

    It has the number of files, their size and the newest time: reading all files would take as long as a check.
    """
    stats = [
        entry.stat()
        for folder in _folders_below([str(Path(__file__).parents[2]), str(schemas_dir())])
        for entry in os.scandir(folder)
        if entry.is_file()
    ]
    return f"{len(stats)}-{sum(each.st_size for each in stats)}-{max(each.st_mtime_ns for each in stats)}"


def _folders_below(pending: list[str]) -> Iterator[str]:
    while pending:
        folder = pending.pop()
        yield folder
        pending.extend(e.path for e in os.scandir(folder) if e.is_dir() and e.name != "__pycache__")


def workspace_cache(root: Path) -> Path | None:
    """Return the folder in the user's cache for the workspace in `root`; None if the cache cannot be used.

    The name contains a digest of the workspace's real path. octoc uses neither a cache inside the workspace nor a
    folder that another user can write.
    """
    cache = user_cache()
    if cache is None:
        return None
    real = os.path.realpath(root)
    if f"{os.path.realpath(cache)}{os.sep}".startswith(real.rstrip(os.sep) + os.sep):
        return None
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(real))[:32]  # noqa: PTH119  # `real` is text
    folder = cache / WORKSPACES / f"{name}-{sha256_hex(os.fsencode(real))[:16]}"
    try:
        for path in (folder.parent, folder):
            path.mkdir(mode=0o700, exist_ok=True)
            if not is_private(path):
                return None
        now = time.time_ns()
        os.utime(folder, ns=(now, now))
        _keep_newest(folder.parent, MOST_WORKSPACES)
    except OSError:
        return None
    return folder


class Cache:
    """A folder of entries. An entry has a kind, which is a plain word, and a key, which is any text.

    Args:
        root: the folder, such as `workspace_cache` returns; the first entry creates it. None stores nothing.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def get_json(self, kind: str, key: str) -> Any | None:
        """Return the value, or None without an entry."""
        data = self._read(kind, key, "json")
        try:
            return None if data is None else json.loads(bytes(data))
        except (ValueError, RecursionError):
            return None

    def put_json(self, kind: str, key: str, value: Any) -> None:
        """Store a plain JSON value. Raises: TypeError or ValueError for another value."""
        self._write(kind, key, "json", canonical_json(value))

    def get_array(self, kind: str, key: str) -> NDArray[Any] | None:
        """Return the array, read-only, or None without an entry."""
        data = self._read(kind, key, "npy")
        try:
            return None if data is None else npy_view(data)
        except BundleError:
            return None

    def put_array(self, kind: str, key: str, array: NDArray[np.generic]) -> None:
        """Store an array of plain numbers. Raises: ValueError for an array of objects."""
        self._write(kind, key, "npy", npy_bytes(array))

    def _path(self, kind: str, key: str, suffix: str) -> Path | None:
        if not kind.replace("-", "").isalnum():
            raise ValueError(f"`{kind}` is not a kind of cache entry: expected a plain word")
        name = cache_key(__version__, kind, key)
        return None if self._root is None else self._root / kind / f"{name}.{suffix}"

    def _read(self, kind: str, key: str, suffix: str) -> memoryview | None:
        path = self._path(kind, key, suffix)
        try:
            entry = b"" if path is None else path.read_bytes()
        except OSError:
            return None
        data = memoryview(entry)[:-_TRAILER]
        return data if entry[len(data) :] == _trailer(data) else None

    def _write(self, kind: str, key: str, suffix: str, data: bytes) -> None:
        path = self._path(kind, key, suffix)
        if path is None or self._root is None:
            return
        try:
            write_whole(path, data + _trailer(data))
            _keep_newest(path.parent, MOST_ENTRIES)
        except OSError:
            return  # without the entry, the next build only takes longer


def _keep_newest(folder: Path, most: int) -> None:
    """Delete all but the `most` newest entries. Raises: OSError, for example if another build does the same."""
    if len(os.listdir(folder)) <= most:  # noqa: PTH208  # most calls end here, and need only the names
        return
    entries = sorted(folder.iterdir(), key=lambda entry: entry.lstat().st_mtime_ns)
    for entry in entries[:-most]:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _trailer(data: bytes | memoryview) -> bytes:
    return f"\n{sha256_hex(data)}\n".encode()
