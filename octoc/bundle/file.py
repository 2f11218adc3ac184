"""Opens a bundle's file for reading, before anything is known of its content."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from octoc.bundle.refusal import BundleFileError
from octoc.diagnostics.rules.bundle import BUNDLE_UNREADABLE

_BUILD = "`octoc build` makes one"
_READABLE = "make it a file that this user may read"


@contextlib.contextmanager
def bundle_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open the regular file at `path` for the block. An OSError in the block is one of the file.

    Raises: BundleFileError.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as handle:  # the path may be a plain string
            if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
                raise BundleFileError(BUNDLE_UNREADABLE, f"`{path}` is not a regular file", _READABLE, str(path))
            yield handle
    except FileNotFoundError:
        raise BundleFileError(BUNDLE_UNREADABLE, f"there is no bundle at `{path}`", _BUILD, str(path)) from None
    except OSError as error:
        reason = f"the bundle at `{path}` cannot be read: {error.strerror}"
        raise BundleFileError(BUNDLE_UNREADABLE, reason, _READABLE, str(path)) from None


def _without_waiting(path: str, flags: int) -> int:
    # Opening a pipe would block until another process writes into it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
