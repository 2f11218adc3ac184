"""What a folder of chezmoi has, by the names that it writes into the home folder (see `octoc/chezmoi.py`)."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from octoc.chezmoi import is_in_source, target_name

_MARKS = (".chezmoiroot", ".chezmoiignore", ".chezmoiscripts", ".chezmoitemplates", ".chezmoiversion")
"""Files and folders beside which the others have attributes in their names."""


def has_target(folder: Path, path: str) -> bool:
    """Tell whether `folder` is one of chezmoi's that has what becomes `path`."""
    if not _is_source(folder):
        return False
    here = [folder]
    for part in PurePosixPath(path).parts:
        here = [one for above in here for one in _becoming(above, part)]
    return bool(here)


def _is_source(folder: Path) -> bool:
    # `Path.exists` raises for a name that is too long for the system.
    above = (folder, *folder.parents)
    return is_in_source(folder) or any(os.path.exists(one / mark) for one in above for mark in _MARKS)  # noqa: PTH110  # see above


def _becoming(folder: Path, name: str) -> list[Path]:
    try:
        return [one for one in folder.iterdir() if name in (one.name, target_name(one.name))]
    except OSError:
        return []  # a file, or a folder that may not be listed, has nothing in it
