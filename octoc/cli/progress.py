"""A line on stderr that names what a command waits for, on a terminal only."""

from __future__ import annotations

import os
import shutil
import sys
from types import TracebackType
from typing import Self

from octoc.diagnostics.render.text import escape, wrapped

_CLEAR = "\r\x1b[K"


def clear_progress() -> None:
    """Take a progress line away, before something else is written to stderr."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        sys.stderr.write(_CLEAR)


class ProgressLine:
    """A `Progress` of the compiler: writes over its own line, and takes it away at the end.

    It writes nothing where stderr is not a terminal, where `CI` is set, and when `is_quiet`, as for `--json`.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        is_plain = bool(os.environ.get("CI")) or os.environ.get("TERM") == "dumb"
        self._shown = sys.stderr.isatty() and not is_plain and not is_quiet

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._shown:
            amount = f" {done}/{total}" if total > 1 else ""
            # A line that wraps could not be taken away.
            room = max(shutil.get_terminal_size().columns - len(amount) - 2, 10)
            first, *others = wrapped(escape(what), room)
            sys.stderr.write(f"{_CLEAR}{first}{'…' if others else ''}{amount}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
