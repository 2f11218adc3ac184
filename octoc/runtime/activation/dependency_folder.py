"""A private, read-only copy of a tap's `deps/`, as the bundle has it, for the run of one script."""

from __future__ import annotations

import contextlib
import os
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
    """Write a folder of the bundle to a new one that only this user can enter, and delete that afterwards.

    Every file is held against its digest before it is written. Raises: AlteredFolderError, OSError, BundleRefused.
    """
    root = Path(tempfile.mkdtemp(prefix="octoc-deps-"))
    try:
        await _in_thread(lambda: write_folder(folder, opened.data, root / "deps"))
        yield root / "deps"
    finally:
        await _in_thread(lambda: _delete(root))


def write_folder(folder: DepFolder, read: Callable[..., bytes], root: Path) -> None:
    """Write the folder to `root`, which is made, and take the right to write from all of it.

    Raises: AlteredFolderError, OSError, what `read` raises.
    """
    if DepFolder.digest_of(folder.files) != folder.digest:
        raise AlteredFolderError
    links = {root.joinpath(*_parts(file.path)): file.link for file in folder.files if file.link}
    root.mkdir()
    for file in folder.files:
        path = root.joinpath(*_parts(file.path))
        if not links.keys().isdisjoint(path.parents):
            raise AlteredFolderError  # it would be written where the link leads
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
        # Where a link leads depends on the other links: only the system says it for sure.
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
    import shutil

    for path in _folders(root):
        path.chmod(_OPEN)
    # Files that somebody deletes meanwhile do not change the script's outcome.
    shutil.rmtree(root, ignore_errors=True)


async def _in_thread(work: Callable[[], None]) -> None:
    """Do `work` in a thread and wait for its end, also when the waiting is cancelled: files may not be left behind."""
    import asyncio

    task = asyncio.create_task(asyncio.to_thread(work))
    await outlast([task])
    await task
