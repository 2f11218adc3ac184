"""Folders that plugins and compiler agree on: the user's own cache, and where an encoder's `path` leads."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

WORKSPACE_FOLDER = "${workspaceFolder}"

logger = logging.getLogger("octoc.cache")

_off = 0  # how many blocks of `without_user_cache` are open; an encoder works in threads, so no context variable


def user_cache() -> Path | None:
    """Return the user's own folder for octoc's cache, as `cache_folder`; None in `without_user_cache`, too."""
    return None if _off else cache_folder()


def cache_folder() -> Path | None:
    """Return the user's own folder for octoc's cache, by the XDG rules; it is made when it is missing.

    None when there is no home, or when another user could write to the folder: it must belong to this user, and no
    other user may write it. The reason is logged once.
    """
    folder = _user_cache()
    if folder is None:
        return None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        trouble = _trouble_with(folder)
    except OSError:
        return None
    if trouble:
        _warn(folder, trouble)
        return None
    return folder


@contextlib.contextmanager
def without_user_cache() -> Iterator[None]:
    """Make `user_cache` return None in the block, in the whole process: nothing is read from it and nothing is kept."""
    global _off  # noqa: PLW0603  # see above
    _off += 1
    try:
        yield
    finally:
        _off -= 1


def is_private(folder: Path) -> bool:
    """Tell whether `folder` is a real folder of this user that no other user may write. Raises: OSError."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True  # Windows has neither owners nor modes in this sense
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _user_cache() -> Path | None:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "octoc"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "octoc" if Path(home).is_absolute() else None


def _trouble_with(folder: Path) -> str:
    """Return why `folder` cannot be trusted; empty when it can. Raises: OSError."""
    if not is_private(folder):
        return "it must belong to this user, and no other user may write it (`chmod go-w`)"
    above = folder.parent.stat().st_mode
    if hasattr(os, "geteuid") and above & stat.S_IWOTH and not above & stat.S_ISVTX:
        return "every user may write the folder above it"
    return ""


@functools.cache
def _warn(folder: Path, trouble: str) -> None:
    logger.warning("the cache `%s` is not used: %s", folder, trouble)


def located(settings: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """Return an encoder's settings with `path`, where there is one, made absolute; it is relative to `workspace`."""
    path = settings.get("path")
    if path is None:
        return dict(settings)
    inside = path.removeprefix(WORKSPACE_FOLDER).removeprefix("/") if path.startswith(WORKSPACE_FOLDER) else path
    return {**settings, "path": os.path.normpath(workspace.absolute() / inside)}
