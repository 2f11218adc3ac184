"""Folders that plugins and compiler agree on: the user's own cache, and where an encoder's `path` leads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

WORKSPACE_FOLDER = "${workspaceFolder}"


def user_cache() -> Path | None:
    """Return the user's own folder for octoc's cache, by the XDG rules; None when there is no home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "octoc"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "octoc" if Path(home).is_absolute() else None


def located(settings: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """Return an encoder's settings with `path`, where there is one, made absolute; it is relative to `workspace`."""
    path = settings.get("path")
    if path is None:
        return dict(settings)
    inside = path.removeprefix(WORKSPACE_FOLDER).removeprefix("/") if path.startswith(WORKSPACE_FOLDER) else path
    return {**settings, "path": os.path.normpath(workspace.absolute() / inside)}
