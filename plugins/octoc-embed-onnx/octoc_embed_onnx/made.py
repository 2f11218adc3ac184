"""Keeps made models in the user's own cache (`$XDG_CACHE_HOME/octoc/encoders`), which may be deleted.

A file ends with the digest of its content, so that a truncated, changed or unreadable file is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

from octoc.plugin.toolkit import PRIVATE, user_cache, write_whole

_TRAILER = 66  # a newline, 64 hex digits, a newline


def is_kept(name: str) -> bool:
    """Return whether a file of this name exists; reading it shows whether it is complete."""
    path = _path(name)
    return path is not None and path.is_file()


def kept_or_made(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the data kept under `name`, a digest of all its inputs; make and keep it if it is missing."""
    path = _path(name)
    if path is None:
        return make()
    kept = _read(path)
    if kept is not None:
        return kept
    data = make()
    # Without a writable cache it is made again next time.
    with contextlib.suppress(OSError):
        _write(path, data)
    return data


def _path(name: str) -> Path | None:
    folder = user_cache()
    return None if folder is None else folder / "encoders" / f"{name}.onnx"


def _read(path: Path) -> bytes | None:
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    data = whole[:-_TRAILER]
    return data if whole[len(data) :] == _trailer(data) else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # Written aside and renamed: two builds may make it at once, with the same bytes.
    write_whole(path, data + _trailer(data), mode=PRIVATE)


def _trailer(data: bytes) -> bytes:
    return f"\n{hashlib.sha256(data).hexdigest()}\n".encode()
