"""`octoc watch`: check and build again when a file changes."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import allow_degraded_option, verbose_option, workspace_option

if TYPE_CHECKING:
    from watchfiles import Change

    from octoc.cli.watch_rounds import WatchRounds

_QUIET_MS = 100
_LONGEST_MS = 1000
_WAKE_MS = 250
"""The first wake starts the first round when changes are already noticed, so none is lost while it runs."""


@click.command
@click.option("--no-build", is_flag=True, help="Only check: write no bundle and no octoc.lock.")
@allow_degraded_option
@workspace_option
@verbose_option
def command(workspace: Path | None, *, no_build: bool, allow_degraded: bool, verbose: bool) -> int:
    """Check and build again when files change.

    Prints the findings at first, and after each change those that are new (+) and those that are gone (-), a line each;
    `octoc check` prints them in full. Beside the workspace's folder it watches the taps that octoc.toml names. `octoc
    serve` takes over each new bundle. Ctrl-C ends it with exit status 0.
    """
    from octoc.cli.failures import UnavailableError
    from octoc.cli.watch_rounds import WatchRounds
    from octoc.cli.workspace import workspace_root

    builds = not no_build
    try:
        root = workspace_root(workspace)
    except UnavailableError:
        if workspace is not None:
            raise
        root, builds = Path.cwd(), False  # a folder with agents or a tap alone can be checked
    rounds = WatchRounds(root=root, builds=builds, allow_degraded=allow_degraded, verbose=verbose)
    with contextlib.suppress(KeyboardInterrupt), _ended_by_signals():
        while True:
            _watch(rounds, _folders(root))
    return 0


def _watch(rounds: WatchRounds, folders: tuple[Path, ...]) -> None:
    """Run a round at first and after each change, until octoc.toml names other folders."""
    from octoc.cli.failures import UnavailableError
    from octoc.compiler.workspace.paths import WORKSPACE_FILE

    is_first = True
    for changed in _changes(folders, rounds.root):
        if not rounds.root.is_dir():
            raise UnavailableError(f"the folder `{rounds.root}` no longer exists", "start `octoc watch` in another")
        if is_first or changed:
            _round(rounds, changed)
        is_first = False
        if any(path.name == WORKSPACE_FILE for path in changed) and _folders(rounds.root) != folders:
            return


def _round(rounds: WatchRounds, changed: Collection[Path]) -> None:
    try:
        rounds.run(changed)
    except OSError as error:  # a file that is being replaced; the end of that is another change
        click.echo(f"a file could not be read: {error.strerror or error}; waiting for the next change", err=True)


def _changes(folders: Sequence[Path], root: Path) -> Iterator[frozenset[Path]]:
    """Yield the files that changed below `folders`, absolute; none now and then. Raises: UserError.

    Changes during the caller's work are kept. The first value comes when all folders are being watched.
    """
    from watchfiles import DefaultFilter, watch

    from octoc.cli.failures import UserError
    from octoc.compiler.workspace.paths import LOCK_FILE

    usual = DefaultFilter()  # not the files of editors, version control, virtual environments and node_modules
    bundles, lock_aside = root / "dist", str(root / f".{LOCK_FILE}.")

    def is_input(change: Change, path: str) -> bool:
        folder = next((folder for folder in folders if Path(path).is_relative_to(folder)), None)
        inside = os.path.relpath(path, folder) if folder is not None else path
        return usual(change, inside) and Path(path).parent != bundles and not path.startswith(lock_aside)

    try:
        for changes in watch(
            *folders,
            watch_filter=is_input,
            step=_QUIET_MS,
            debounce=_LONGEST_MS,
            rust_timeout=_WAKE_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield frozenset(Path(path) for _, path in changes)
    except OSError as error:
        help_ = "set WATCHFILES_FORCE_POLLING=1 to compare the files' times instead"
        raise UserError(f"the files cannot be watched: {error}", help_) from None


def _folders(root: Path) -> tuple[Path, ...]:
    """Return the workspace's folder, and those of its taps that are elsewhere, absolute."""
    from octoc.compiler.taps.update import tap_refs
    from octoc.compiler.workspace.paths import CORE_TAP, WORKSPACE_FILE, file_at

    if not (root / WORKSPACE_FILE).is_file():
        return (root,)
    taps = {
        Path(os.path.normpath(file_at(root, tap.path)))
        for tap in tap_refs(root)
        if not tap.git and not tap.path.startswith(CORE_TAP)
    }
    return (root, *sorted(tap for tap in taps if not tap.is_relative_to(root) and tap.is_dir()))


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End by SIGTERM and SIGHUP as by Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    # A parent process that ignores a signal, such as `nohup`, wants it ignored.
    mine = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in mine:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])
