"""The user's store of fetched taps: a folder per commit, and the newest commit that each revision was found to name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.settings import TapRef, WorkspaceSettings
from octoc.compiler.taps.addresses import is_commit
from octoc.compiler.workspace.files import bytes_if_any
from octoc.compiler.workspace.paths import LOCK_FILE, WORKSPACE_FILE
from octoc.plugin.folders import cache_folder
from octoc.toml_limits import parse
from octoc.whole_files import write_whole

_FOLDER = "taps"
_NAMED = "revisions"


@attrs.frozen(kw_only=True)
class LockedTap:
    """What a lock says of a tap from git: its address and revision as in octoc.toml, and the commit."""

    git: str
    rev: str
    commit: str


def store_folder() -> Path | None:
    """Return the store's folder; None if the user's cache cannot be used.

    A build that reads no cache uses it, too: the lock has the digest of every file of a tap.
    """
    cache = cache_folder()
    return None if cache is None else cache / _FOLDER


def tree_of(commit: str) -> Path | None:
    """Return where the files of a commit are, or would be; None without a store."""
    store = store_folder()
    return None if store is None else store / commit


def has_taps_from_git(root: Path) -> bool:
    """Tell whether octoc.toml has a tap from git, without a check of the file: most workspaces have none."""
    taps = _table(root / WORKSPACE_FILE).get("taps")
    return any(isinstance(tap, dict) and "git" in tap for tap in (taps if isinstance(taps, list) else ()))


def locked_taps(root: Path) -> Mapping[str, LockedTap]:
    """Return the taps from git in `root`'s octoc.lock, by name; none if it cannot be read, which the build reports."""
    taps = _table(root / LOCK_FILE).get("taps")
    found = {}
    for name, tap in taps.items() if isinstance(taps, dict) else ():
        values = [tap.get(key, "") if isinstance(tap, dict) else "" for key in ("git", "rev", "commit")]
        if all(isinstance(value, str) for value in values) and is_commit(values[2]):
            found[name] = LockedTap(git=values[0], rev=values[1], commit=values[2])
    return found


def locked_commit(tap: TapRef, locked: Mapping[str, LockedTap]) -> str:
    """Return the commit that the lock has for a tap; empty if it has none, or one of another address or revision."""
    entry = locked.get(tap.name)
    return entry.commit if entry is not None and (entry.git, entry.rev) == (tap.git, tap.rev) else ""


def remember_commit(address: str, revision: str, commit: str) -> None:
    """Note which commit a revision names, for a workspace that has no lock yet. Raises: OSError."""
    path = _noted(address, revision)
    if path is not None:
        write_whole(path, commit.encode())


def remembered_commit(address: str, revision: str) -> str:
    """Return the commit that `remember_commit` noted, or an empty text."""
    path = _noted(address, revision)
    commit = (bytes_if_any(path) or b"").decode("ascii", "replace") if path is not None else ""
    return commit if is_commit(commit) else ""


def with_fetched_taps(settings: WorkspaceSettings, root: Path) -> WorkspaceSettings:
    """Return the settings with `commit` and `folder` of each tap from git, where the store or the lock has them."""
    locked = locked_taps(root)
    return attrs.evolve(settings, taps=tuple(_located(tap, locked) for tap in settings.taps))


def _table(path: Path) -> dict[str, Any]:
    """Return a file of TOML; nothing of one that cannot be read, which others report."""
    try:
        return parse((bytes_if_any(path) or b"").decode())
    except ValueError:
        return {}


def _located(tap: TapRef, locked: Mapping[str, LockedTap]) -> TapRef:
    if not tap.git:
        return tap
    commit = locked_commit(tap, locked) or remembered_commit(tap.git, tap.rev)
    tree = tree_of(commit) if commit else None
    return attrs.evolve(tap, commit=commit, folder="" if tree is None else str(tree))


def _noted(address: str, revision: str) -> Path | None:
    store = store_folder()
    return None if store is None else store / _NAMED / sha256_hex(canonical_json([address, revision]))
