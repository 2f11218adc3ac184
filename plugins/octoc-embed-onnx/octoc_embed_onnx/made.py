"""What was made once is kept in the user's own cache (`$XDG_CACHE_HOME/octoc/encoders`), which may be deleted.

A file ends in the digest of its content: what is cut or altered is made anew, and so is what cannot be read.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

from octoc.plugin.folders import user_cache
from octoc.whole_files import PRIVATE, write_whole

_TRAILER = 66  # a newline, 64 hex digits, a newline


def is_kept(name: str) -> bool:
    """Tell whether there is something under this name; whether it is whole shows when it is read."""
    path = _path(name)
    return path is not None and path.is_file()


def kept_or_made(name: str, make: Callable[[], bytes]) -> bytes:
    """Return what is kept under `name`, a digest of all that it is made of, or make it and keep it."""
    path = _path(name)
    if path is None:
        return make()
    kept = _read(path)
    if kept is not None:
        return kept
    data = make()
    # A cache that cannot be written costs time, nothing else.
    with contextlib.suppress(OSError):
        _write(path, data)
    return data


def _path(name: str) -> Path | None:
    folder = user_cache()
    return None if folder is None else folder / "encoders" / f"{name}.onnx"


def _read(path: Path) -> bytes | None:
    try:
        found = path.read_bytes()
    except OSError:
        return None
    data = found[:-_TRAILER]
    return data if found[len(data) :] == _trailer(data) else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # Aside and renamed: two builds may make it at once, and both write the same bytes.
    write_whole(path, data + _trailer(data), mode=PRIVATE)


def _trailer(data: bytes) -> bytes:
    return f"\n{hashlib.sha256(data).hexdigest()}\n".encode()
