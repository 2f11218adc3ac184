"""Writes new files: all of them or none, and never over what is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_new(folder: Path, files: Mapping[str, str]) -> None:
    """Write each path relative to `folder`, in order; folders are made. What was written is taken back on a failure.

    Raises: FileExistsError, whose `filename` is the path, for the first that is there already, whatever it is, before
    anything is written; OSError.
    """
    for name in files:
        if os.path.lexists(folder / name):
            raise FileExistsError(17, "File exists", name)
    made: list[Path] = []
    folders: list[Path] = []
    try:
        for name, text in files.items():
            path = folder / name
            missing = [parent for parent in path.parents if not os.path.lexists(parent)]
            for parent in reversed(missing):
                parent.mkdir()
                folders.append(parent)
            # Not `write_whole`: it would replace what another process has put there since.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            made.append(path)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except BaseException:  # also an interruption must not leave half a workspace
        for path in reversed(made):
            path.unlink(missing_ok=True)
        for path in reversed(folders):
            path.rmdir()
        raise
