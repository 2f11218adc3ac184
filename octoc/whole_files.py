"""Writes a file whole or not at all: aside in the same folder, then renamed over the old one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_MODE = 0o644
PRIVATE = 0o600
"""The mode of a file that only its user may read and write."""


def write_whole(path: Path, data: bytes, *, mode: int = _MODE, sync: bool = False) -> None:
    """Put `data` at `path` with mode 0644 or `mode`, whatever the umask; missing folders are made.

    A reader sees the old file or the new one, and a failure leaves the old one. With `sync` the data is on disk before
    the old file goes. Raises: OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes the file with 0600: there is no moment at which another user could open one that is private.
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            os.fchmod(out.fileno(), mode)
            out.write(data)
            if sync:
                out.flush()
                os.fsync(out.fileno())
        Path(aside).replace(path)
    except BaseException:  # also an interruption must not leave the half-written file behind
        Path(aside).unlink(missing_ok=True)
        raise
