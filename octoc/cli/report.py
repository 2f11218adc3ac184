"""Prints diagnostics and says what they mean for the exit status."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.diagnostics.model import Diagnostic, Severity
from octoc.diagnostics.render import Paint, ansi, plain, render_concise, render_full, render_json, summary

if TYPE_CHECKING:
    from octoc.diagnostics.render import ReadLine

_MAX_QUOTED_BYTES = 64 * 1024 * 1024


def print_diagnostics(
    found: Sequence[Diagnostic], root: Path, *, output_format: str, verbose: bool, err: bool = False
) -> None:
    """Write findings to stdout, or to stderr with `err`, and their summary to stderr.

    Infos are counted, and shown only with `verbose`; `json` has all of them.
    """
    shown = [diagnostic for diagnostic in found if verbose or diagnostic.severity > Severity.INFO]
    paint = paint_for(err=err)
    if output_format == "json":
        text = render_json(found)
    elif output_format == "concise":
        text = render_concise(shown, paint)
    else:
        text = render_full(shown, line_reader(root), paint)
        text += "\n" if text else ""
    click.echo(text, nl=False, err=err)
    click.echo(summary(found, infos_shown=verbose or output_format == "json"), err=True)


def exit_status(found: Sequence[Diagnostic], fail_on: str) -> int:
    """Return 1 when a finding is at or above `fail_on` (`error`, `warning` or `info`), else 0."""
    return int(any(diagnostic.severity >= Severity[fail_on.upper()] for diagnostic in found))


def paint_for(*, err: bool = False) -> Paint:
    """Return colour where the stream is a terminal and the user did not refuse it (`NO_COLOR`), else none."""
    stream = sys.stderr if err else sys.stdout
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return ansi if coloured else plain


def line_reader(root: Path) -> ReadLine:
    """Return a reader of source lines of files as spans name them: relative to `root`, or absolute."""

    @functools.lru_cache(maxsize=32)
    def lines(file: str) -> tuple[str, ...]:
        path = root / file
        try:
            if not path.is_file() or path.stat().st_size > _MAX_QUOTED_BYTES:
                return ()
            text = path.read_bytes().decode("utf-8-sig", errors="replace")
        except OSError:  # gone or closed since: the place is named without its line
            return ()
        return tuple(line.removesuffix("\r") for line in text.split("\n"))

    def read_line(file: str, line: int) -> str | None:
        found = lines(file)
        return found[line - 1] if 0 < line <= len(found) else None

    return read_line
