"""What commands do with a workspace's taps from git: fetch what is missing, and move to newer commits."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

import attrs

from octoc.bundle.refusal import BundleError
from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Progress, no_progress
from octoc.compiler.lock.text import NewerLockError, is_of_newer_revision, parse, text_of
from octoc.compiler.model.settings import TapRef, WorkspaceSettings
from octoc.compiler.structure.settings import load_settings
from octoc.compiler.taps.addresses import absolute_address
from octoc.compiler.taps.fetch import fetch_commit
from octoc.compiler.taps.remote import TapFetchError, commit_named
from octoc.compiler.taps.store import (
    locked_commit,
    locked_taps,
    remember_commit,
    remembered_commit,
    store_folder,
    with_fetched_taps,
)
from octoc.compiler.workspace.files import bytes_if_any, write_if_changed
from octoc.compiler.workspace.paths import LOCK_FILE, WORKSPACE_FILE
from octoc.diagnostics.model import DiagnosticSink


@attrs.frozen(kw_only=True)
class FetchedTap:
    """A tap from git after a fetch: its commit, and the one that the lock or the store had before, empty for none."""

    name: str
    commit: str
    before: str
    was_fetched: bool


class TapError(Exception):
    """A tap cannot be fetched, moved or added. `help` is the next step."""

    def __init__(self, message: str, help_: str) -> None:
        super().__init__(message)
        self.help = help_


def tap_refs(root: Path) -> tuple[TapRef, ...]:
    """Return the sound taps of octoc.toml, those from git with commit and folder where they are known."""
    settings = _settings(root)
    return () if settings is None else with_fetched_taps(settings, root).taps


def fetch_taps(root: Path, *, locked: bool = False, progress: Progress = no_progress) -> tuple[FetchedTap, ...]:
    """Fetch each tap from git whose commit is not in the store; ask the remote only for what the lock does not have.

    Args:
        locked: ask no remote what a revision names: a tap that the lock does not have is left out.

    Raises: TapError.
    """
    settings = _settings(root)
    refs = [] if settings is None else [tap for tap in settings.taps if tap.git]
    known = locked_taps(root)
    fetched = []
    for number, tap in enumerate(refs):
        commit = locked_commit(tap, known)
        if commit or not locked:
            progress(f"fetching tap `{tap.name}`", number, len(refs))
            fetched.append(fetch_tap(tap, root, commit))
    return tuple(fetched)


def update_taps(root: Path, names: Collection[str] = (), *, progress: Progress = no_progress) -> tuple[FetchedTap, ...]:
    """Move taps from git to the commits that their revisions name now, in octoc.lock too, and fetch them.

    The lock is then behind in all else: `octoc build` completes it. Where there is none, the store notes the commits
    for the next build.

    Args:
        names: which taps; none means every tap from git.

    Raises: TapError; nothing is written then.
    """
    settings = _settings(root)
    refs = {tap.name: tap for tap in (settings.taps if settings is not None else ()) if tap.git}
    unknown = [name for name in names if name not in refs]
    if unknown:
        known = ", ".join(f"`{name}`" for name in refs) or "none"
        raise TapError(f"`{unknown[0]}` is not a tap from git in {WORKSPACE_FILE}", f"taps from git: {known}")
    locked = locked_taps(root)
    moved = []
    chosen = names or refs
    for number, name in enumerate(chosen):
        progress(f"fetching tap `{name}`", number, len(chosen))
        before = locked_commit(refs[name], locked) or remembered_commit(refs[name].git, refs[name].rev)
        moved.append(attrs.evolve(fetch_tap(refs[name], root), before=before))
    _move_in_lock(root, moved)
    return tuple(moved)


def fetch_tap(tap: TapRef, root: Path, commit: str = "") -> FetchedTap:
    """Fetch a tap from git at a commit, by default the one that its revision names now. Raises: TapError."""
    store = store_folder()
    if store is None:
        raise TapError(f"tap `{tap.name}` cannot be fetched: there is no folder to keep it in", "set XDG_CACHE_HOME")
    address = absolute_address(tap.git, root)
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not commit:
            with tempfile.TemporaryDirectory(prefix=".ask-", dir=store) as scratch:
                commit = commit_named(address, tap.rev, Path(scratch))
            remember_commit(tap.git, tap.rev, commit)
        was_there = (store / commit).is_dir()
        fetch_commit(address, commit, store)
    except TapFetchError as error:
        raise TapError(
            f"tap `{tap.name}` cannot be fetched from `{tap.git}`: {error}",
            "check `git` and `rev` of the tap, and your access to it",
        ) from error
    except OSError as error:
        raise TapError(f"tap `{tap.name}` cannot be kept in `{store}`: {error.strerror}", "make it writable") from error
    return FetchedTap(name=tap.name, commit=commit, before="", was_fetched=not was_there)


def _move_in_lock(root: Path, moved: Iterable[FetchedTap]) -> None:
    path = root / LOCK_FILE
    data = bytes_if_any(path)
    if data is None:
        return
    try:
        content = parse(data.decode())
    except (NewerLockError, BundleError, ValueError):
        content = None
    if content is None or is_of_newer_revision(content):
        raise TapError(f"`{LOCK_FILE}` cannot be changed by this octoc", "run `octoc build`, which says why")
    taps = dict(content.taps)
    for tap in moved:
        if tap.name in taps:
            taps[tap.name] = attrs.evolve(taps[tap.name], commit=tap.commit)
    write_if_changed(path, text_of(attrs.evolve(content, taps=taps)).encode())


def _settings(root: Path) -> WorkspaceSettings | None:
    """Return the settings; what is unsound in them is reported by the command's own work."""
    return load_settings(root, DiagnosticSink(), cache=Cache(None))
