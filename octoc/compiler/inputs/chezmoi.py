"""Folders of chezmoi, whose files have other names than those that it writes into the home folder.

Source: chezmoi, reference, source state attributes (2.70, 2026).
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

_PREFIXES = re.compile(
    r"(?:after|before|create|empty|encrypted|exact|executable|external|modify|once|onchange|private|readonly|remove|run"
    r"|symlink)_"
)
_SUFFIXES = re.compile(r"(?:\.tmpl|\.age|\.asc|\.literal)+\Z")
_DOT, _LITERAL = "dot_", "literal_"
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


def target_name(name: str) -> str:
    """Return the name that chezmoi gives a file or folder called `name`."""
    while (prefix := _PREFIXES.match(name)) is not None:
        name = name[prefix.end() :]
    if name.startswith(_LITERAL):
        name = name.removeprefix(_LITERAL)
    elif name.startswith(_DOT):
        name = f".{name.removeprefix(_DOT)}"
    return _SUFFIXES.sub("", name)


def _is_source(folder: Path) -> bool:
    has_attribute = any(part.startswith(_DOT) for part in folder.parts)
    # `Path.exists` raises for a name that is too long for the system.
    above = (folder, *folder.parents)
    return has_attribute or any(os.path.exists(one / mark) for one in above for mark in _MARKS)  # noqa: PTH110  # see above


def _becoming(folder: Path, name: str) -> list[Path]:
    try:
        return [one for one in folder.iterdir() if name in (one.name, target_name(one.name))]
    except OSError:
        return []  # a file, or a folder that may not be listed, has nothing in it
