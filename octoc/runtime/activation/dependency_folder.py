"""A private, read-only copy of a tap's `deps/` from the bundle, for the run of one script."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import DepFolder
from octoc.runtime.activation.scripts import AlteredFolderError
from octoc.runtime.cancellation import outlast

if TYPE_CHECKING:
    from octoc.bundle.reader import OpenBundle

_FILE, _PROGRAM, _FOLDER, _OPEN = 0o444, 0o555, 0o555, 0o700


@contextlib.asynccontextmanager
async def copied(folder: DepFolder, opened: OpenBundle) -> AsyncIterator[Path]:
    """Write a folder of the bundle to a new one that only this user can enter, and delete it afterwards.

    Every file is compared with its digest before it is written. Raises: AlteredFolderError, OSError, BundleFileError.
    """
    root = Path(tempfile.mkdtemp(prefix="octoc-deps-"))
    try:
        await _in_thread(lambda: write_folder(folder, opened.data, root / "deps"))
        yield root / "deps"
    finally:
        await _in_thread(lambda: _delete(root))


def write_folder(folder: DepFolder, read: Callable[..., bytes], root: Path) -> None:
    """Write the folder to the new folder `root`, and make all of it read-only.

    Raises: AlteredFolderError, OSError, and the exceptions of `read`.
    """
    if DepFolder.digest_of(folder.files) != folder.digest:
        raise AlteredFolderError
    links = {root.joinpath(*_parts(file.path)): file.link for file in folder.files if file.link}
    root.mkdir()
    for file in folder.files:
        path = root.joinpath(*_parts(file.path))
        if not links.keys().isdisjoint(path.parents):
            raise AlteredFolderError  # it would be written to the target of the link
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.link:
            continue
        data = read(file.data)
        if sha256_hex(data) != file.digest:
            raise AlteredFolderError
        with path.open("xb") as out:
            out.write(data)
        path.chmod(_PROGRAM if file.is_program else _FILE)
    for path, target in links.items():
        path.symlink_to(target)
    inside = os.path.realpath(root)
    for path in links:
        # The target of a link depends on the other links, so the system resolves it.
        if not f"{os.path.realpath(path)}/".startswith(f"{inside}/"):
            raise AlteredFolderError
    for path in _folders(root):
        path.chmod(_FOLDER)


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise AlteredFolderError
    return parts


def _folders(root: Path) -> list[Path]:
    return [Path(folder) for folder, _, _ in os.walk(root)]


def _delete(root: Path) -> None:
    for path in _folders(root):
        path.chmod(_OPEN)
    # Files that are deleted meanwhile do not change the script's outcome.
    shutil.rmtree(root, ignore_errors=True)


async def _in_thread(work: Callable[[], None]) -> None:
    """Do `work` in a thread and wait for its end, even if cancelled, so that no files are left."""
    task = asyncio.create_task(asyncio.to_thread(work))
    await outlast([task])
    await task
