"""What a build remembers for the next one: JSON and arrays, in a folder that may be deleted at any time.

The folder lies in the user's own cache, never in the workspace: a repository could bring entries with it.

A caller's key has all that the value depends on, and octoc's version is added: no entry is stale. Each entry ends
in the digest of its content: what is cut or altered is a miss, and so is a folder that cannot be read or written.
Of each kind the newest entries are kept, so that years of edits fill no disk. The caller keeps out whatever is marked
secret.
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
"""Of one kind, in one folder. A gate has one for each of its arrays, some ten; nothing else has more than one."""

MOST_WORKSPACES = 128
"""How many workspaces' folders are kept; the one that was written longest ago goes first."""
WORKSPACES = "workspaces"

_TRAILER = 66  # a newline, 64 hex digits, a newline


def cache_key(*parts: Any) -> str:
    """Return the key of what is made from `parts`, which are plain JSON values."""
    return sha256_hex(canonical_json(parts))


@functools.cache
def code_stamp() -> str:
    """Return what changes when octoc's own code or schemas do without a change of version: in a checkout, by an edit.

    The number of files, their bytes and the time of the newest: reading them all would cost what the cache saves.
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
    """Return the folder in the user's cache for the workspace in `root`; None when nothing may be kept.

    The name has a digest of the workspace's real path. A user's cache that lies inside the workspace is not used, and
    neither is a folder that somebody else may write.
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
    """A folder of entries by kind, a plain word, and key, any text. `root` None remembers nothing.

    Args:
        root: the folder, such as `workspace_cache` returns; the first entry makes it.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def get_json(self, kind: str, key: str) -> Any | None:
        """Return the value, or None when there is none (so None itself is not worth keeping)."""
        data = self._read(kind, key, "json")
        try:
            return None if data is None else json.loads(bytes(data))
        except (ValueError, RecursionError):
            return None

    def put_json(self, kind: str, key: str, value: Any) -> None:
        """Keep a plain JSON value. Raises: TypeError or ValueError when it is none."""
        self._write(kind, key, "json", canonical_json(value))

    def get_array(self, kind: str, key: str) -> NDArray[Any] | None:
        """Return the array, read-only, or None when there is none."""
        data = self._read(kind, key, "npy")
        try:
            return None if data is None else npy_view(data)
        except BundleError:
            return None

    def put_array(self, kind: str, key: str, array: NDArray[np.generic]) -> None:
        """Keep an array of plain numbers. Raises: ValueError when it holds objects."""
        self._write(kind, key, "npy", npy_bytes(array))

    def _path(self, kind: str, key: str, suffix: str) -> Path | None:
        if not kind.replace("-", "").isalnum():
            raise ValueError(f"`{kind}` is no kind of cache entry: expected a plain word")
        name = cache_key(__version__, kind, key)
        return None if self._root is None else self._root / kind / f"{name}.{suffix}"

    def _read(self, kind: str, key: str, suffix: str) -> memoryview | None:
        path = self._path(kind, key, suffix)
        try:
            found = b"" if path is None else path.read_bytes()
        except OSError:
            return None
        data = memoryview(found)[:-_TRAILER]
        return data if found[len(data) :] == _trailer(data) else None

    def _write(self, kind: str, key: str, suffix: str, data: bytes) -> None:
        path = self._path(kind, key, suffix)
        if path is None or self._root is None:
            return
        try:
            write_whole(path, data + _trailer(data))
            _keep_newest(path.parent, MOST_ENTRIES)
        except OSError:
            return  # a cache that cannot be written costs time, nothing else


def _keep_newest(folder: Path, most: int) -> None:
    """Delete all but the `most` newest entries. Raises: OSError, as when another build does the same."""
    if len(os.listdir(folder)) <= most:  # noqa: PTH208  # names alone: most calls end here
        return
    entries = sorted(folder.iterdir(), key=lambda entry: entry.lstat().st_mtime_ns)
    for entry in entries[:-most]:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _trailer(data: bytes | memoryview) -> bytes:
    return f"\n{sha256_hex(data)}\n".encode()
