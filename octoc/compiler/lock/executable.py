"""Executable bits of a lock on file systems that have none."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

import attrs

from octoc.compiler.lock.content import LockContent


def with_bits_of(old: LockContent, new: LockContent, root: Path) -> LockContent:
    """Return `new`; where the file system of `root` has no executable bits, with those of `old` in their place.

    So a lock is the same on Windows as on Linux, as far as its files are there.
    """
    if _bits(old) == _bits(new) or _has_executable_bits(root):
        return new
    taps = {
        name: attrs.evolve(tap, executable=_present(old.taps[name].executable, tap.files)) if name in old.taps else tap
        for name, tap in new.taps.items()
    }
    return attrs.evolve(new, taps=taps, executable=_present(old.executable, new.files))


def _bits(content: LockContent) -> list[tuple[str, ...]]:
    return [content.executable, *(content.taps[name].executable for name in sorted(content.taps))]


def _present(executable: tuple[str, ...], files: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(path for path in executable if path in files)


def _has_executable_bits(folder: Path) -> bool:
    """Tell whether a file in `folder` keeps the bit when it is set and when it is cleared.

    A folder that cannot be written counts as one that does: then a difference is reported rather than missed.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".octoc-") as file:
            for mode in (stat.S_IRUSR | stat.S_IXUSR, stat.S_IRUSR):
                os.chmod(file.name, mode)  # noqa: PTH101  # `name` is text
                if stat.S_IMODE(os.stat(file.name).st_mode) & stat.S_IXUSR != mode & stat.S_IXUSR:  # noqa: PTH116
                    return False
    except OSError:
        pass
    return True
