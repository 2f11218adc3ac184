"""Reads regular files, and writes a file only where it changed."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from octoc.whole_files import write_whole


def regular_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file; a pipe is not waited for. Raises: OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.read_bytes()


def bytes_if_any(path: Path) -> bytes | None:
    """Return the bytes of a regular file, None where there is none or it cannot be read."""
    try:
        return regular_bytes(path)
    except OSError:
        return None


def write_if_changed(path: Path, data: bytes) -> bool:
    """Put `data` at `path` unless it is there already, and tell whether it was written. Raises: OSError."""
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except OSError:
        pass  # whatever is there cannot be read as a file: writing says what is wrong with it
    write_whole(path, data)
    return True
