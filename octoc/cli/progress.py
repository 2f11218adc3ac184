"""A progress line on stderr, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from octoc.diagnostics.render.text import escape

_CLEAR = "\r\x1b[K"


class ProgressLine:
    """A `Progress` of the compiler: writes over its own line, and takes it away at the end. Quiet when piped."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._shown:
            amount = f" {done}/{total}" if total > 1 else ""
            sys.stderr.write(f"{_CLEAR}{escape(what)}{amount}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
