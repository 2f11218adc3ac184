"""Fetches a workspace's taps from git before a command that needs them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def fetch_taps_of(root: Path, *, locked: bool = False) -> None:
    """Fetch each tap from git whose commit is not on this machine. Raises: UserError.

    With `locked` only commits that octoc.lock has are fetched.
    """
    from octoc.compiler.taps.store import has_taps_from_git

    if not has_taps_from_git(root):
        return  # most workspaces: nothing more is imported
    from octoc.cli.progress import ProgressLine
    from octoc.compiler.taps.update import fetch_taps

    with tap_errors(), ProgressLine() as progress:
        fetch_taps(root, locked=locked, progress=progress)


@contextlib.contextmanager
def tap_errors() -> Iterator[None]:
    """Raise a TapError of the block as a UserError."""
    from octoc.cli.failures import UserError
    from octoc.compiler.taps.update import TapError

    try:
        yield
    except TapError as error:
        raise UserError(str(error), error.help) from None
