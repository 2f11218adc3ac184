"""Writes a file whole or not at all: aside in the same folder, then renamed over the old one. Reads regular files."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

_MODE = 0o644


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


def write_whole(path: Path, data: bytes, *, mode: int = _MODE) -> None:
    """Put `data` at `path` with mode 0644 or `mode`, whatever the umask; missing folders are made.

    A reader sees the old file or the new one, and a failure leaves the old one. Raises: OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            os.fchmod(out.fileno(), mode)
            out.write(data)
        Path(aside).replace(path)
    except BaseException:  # also an interruption must not leave the half-written file behind
        Path(aside).unlink(missing_ok=True)
        raise


def write_if_changed(path: Path, data: bytes) -> bool:
    """Put `data` at `path` unless it is there already, and tell whether it was written. Raises: OSError."""
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except OSError:
        pass  # whatever is there cannot be read as a file: writing says what is wrong with it
    write_whole(path, data)
    return True
