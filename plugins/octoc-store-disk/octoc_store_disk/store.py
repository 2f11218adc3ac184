"""Values by `py-key-value-aio` in the files of a folder that only this process uses."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsFloat

from key_value.aio.stores.filetree import FileTreeStore

from octoc.plugin import PluginError, StoreBackend

logger = logging.getLogger(__name__)

CULL_S = 60.0
"""Seconds between two removals of values whose time is over."""
CLOSE_S = 5.0
"""Seconds that a removal under way has left when the store is closed."""
LOCK = "lock"


def folder_store(path: str) -> StoreBackend:
    """Return the store in a folder, which it makes. Raises: PluginError if another process or user may use it."""
    folder = Path(path)
    if not folder.is_absolute():
        raise PluginError("the address of the store names no folder: expected `file:///var/lib/octoc/store`")
    values = FolderValues(folder, _locked(folder))
    return StoreBackend(values=values, messages=None, counters=None, name=f"file://{folder}", close=values.close)


def _locked(folder: Path) -> int:
    """Make a private folder, and return the open file that locks it. Raises: PluginError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PluginError(f"the store's folder `{folder}` is not private: run `chmod 700` as the gateway's user")
        lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise PluginError(f"the store's folder `{folder}` cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise PluginError(
            f"another gateway uses the store's folder `{folder}`: several share a store in Redis, `redis://HOST:6379/0`"
        ) from None
    return lock


class FolderValues:
    """Values in files; those whose time is over are removed now and then. `lock` is closed with it."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._files = FileTreeStore(data_directory=folder / "values", metadata_directory=folder / "collections")
        self._lock = lock
        self._culled = time.monotonic()
        self._culling: asyncio.Task[None] | None = None

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return a value. Raises: OSError, ValueError."""
        value: dict[str, Any] | None = await self._files.get(key, collection=collection)
        return value

    async def put(
        self, key: str, value: Mapping[str, Any], *, collection: str | None = None, ttl: SupportsFloat | None = None
    ) -> None:
        """Keep a value. Raises: OSError."""
        await self._files.put(key, value, collection=collection, ttl=ttl)
        if time.monotonic() - self._culled >= CULL_S and (self._culling is None or self._culling.done()):
            self._culled = time.monotonic()
            self._culling = asyncio.create_task(self._cull(), name="octoc store: values whose time is over")

    async def _cull(self) -> None:
        try:
            await self._files.cull()
        except Exception as error:  # noqa: BLE001  # the library's are many; it is tried again
            logger.warning("values whose time is over stay in the store: %s", type(error).__name__)

    async def close(self) -> None:
        """Release the folder."""
        if self._culling is not None:
            # A cancelled read leaves its file open until it is collected, so the removal gets time to finish.
            await asyncio.wait((self._culling,), timeout=CLOSE_S)
            self._culling.cancel()
            await asyncio.wait((self._culling,))
        os.close(self._lock)
