"""Prints diagnostics and says what they mean for the exit status."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.diagnostics.fold import folded
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.render import Paint, ansi, plain, render_concise, render_full, render_json, summary, wrapped
from octoc.diagnostics.rule import Severity

if TYPE_CHECKING:
    from octoc.diagnostics.render import ReadLine

FOR_PEOPLE = ("full", "concise")
"""Formats that are read on a terminal or in a log, among other lines."""
_FOR_CI = ("sarif", "github", "junit")
_WITH_ALL_PLACES = ("json", "sarif", "junit")
"""Formats for programs, which count places themselves."""
_MAX_QUOTED_BYTES = 64 * 1024 * 1024


def print_diagnostics(
    found: Sequence[Diagnostic],
    root: Path,
    *,
    output_format: str,
    verbose: bool,
    err: bool = False,
    fail_on: str = "error",
    files: Iterable[Path] = (),
) -> None:
    """Write findings to stdout, or to stderr with `err`, and their summary to stderr.

    Infos are counted, and shown only with `verbose`; `json` has all of them. Formats for programs have each place of
    findings that say the same; the others show the first with a count, and errors and warnings apart with `verbose`.

    Args:
        root: what the paths of spans are relative to.
        fail_on: as the option; `junit` calls a failure what the exit status does.
        files: what was looked at, absolute; `junit` has a test case for each.
    """
    shown = [diagnostic for diagnostic in found if verbose or diagnostic.severity > Severity.INFO]
    places = len(shown)
    if output_format not in _WITH_ALL_PLACES:
        shown = list(folded(shown, most=Severity.INFO if verbose else Severity.ERROR))
    paint, columns = paint_for(err=err), columns_of(err=err)
    if output_format == "json":
        text = render_json(found)
    elif output_format in _FOR_CI:
        text = _for_ci(output_format, shown, root, fail_on, files)
    elif output_format == "concise":
        text = render_concise(shown, paint)
    elif output_format == "full":
        text = render_full(shown, line_reader(root), paint, columns)
        text += "\n" if text else ""
    else:
        raise ValueError(f"unknown output format `{output_format}`")
    if output_format in FOR_PEOPLE and os.environ.get("GITHUB_ACTIONS") == "true":
        from octoc.diagnostics.render.github import defuse

        text = defuse(text)
    click.echo(text, nl=False, err=err, color=is_coloured(err=err))
    infos_shown = verbose or output_format == "json"
    for line in summary(found, infos_shown=infos_shown, places_shown=verbose or places == len(shown)).split("\n"):
        click.echo("\n".join(wrapped(line, columns_of(err=True), indent=2)), err=True)


def exit_status(found: Sequence[Diagnostic], fail_on: str) -> int:
    """Return 1 when a finding is at or above `fail_on` (`error`, `warning`, `info`, or `none`: never), else 0."""
    least = least_failing(fail_on)
    return int(least is not None and any(diagnostic.severity >= least for diagnostic in found))


def least_failing(fail_on: str) -> Severity | None:
    """Return the least severity that `--fail-on` calls a failure; None for `none`."""
    return None if fail_on == "none" else Severity[fail_on.upper()]


def _for_ci(output_format: str, shown: Sequence[Diagnostic], root: Path, fail_on: str, files: Iterable[Path]) -> str:
    from octoc.compiler.checkup.target import rebased

    # Where code is scanned or annotated, paths count from the checkout, which need not be the workspace.
    base = Path(os.path.normpath(Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).absolute()))
    moved = [rebased(diagnostic, root, base) for diagnostic in shown]
    if output_format == "github":
        from octoc.diagnostics.render.github import render_github

        return render_github(moved)
    if output_format == "junit":
        from octoc.diagnostics.render.junit import render_junit

        return render_junit(moved, files=[_below(base, file) for file in files], fail_on=least_failing(fail_on))
    if output_format != "sarif":
        raise ValueError(f"unknown output format `{output_format}`")
    from octoc import __version__
    from octoc.diagnostics.pages import page_of, url_of
    from octoc.diagnostics.render.sarif import render_sarif

    placeless = _below(base, root / "octoc.toml")
    return render_sarif(moved, version=__version__, page_of=page_of, url_of=url_of, placeless=placeless)


def _below(base: Path, path: Path) -> str:
    return (path.relative_to(base) if path.is_relative_to(base) else path).as_posix()


def paint_for(*, err: bool = False) -> Paint:
    """Return the painter for stdout, or for stderr with `err`."""
    return ansi if is_coloured(err=err) else plain


def is_coloured(*, err: bool = False) -> bool:
    """Tell whether text on stdout, or on stderr with `err`, is coloured.

    A terminal gets colour, and so does every stream with `FORCE_COLOR`; `NO_COLOR` is stronger than both.
    """
    if os.environ.get("NO_COLOR"):
        return False
    stream = sys.stderr if err else sys.stdout
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def columns_of(*, err: bool = False) -> int | None:
    """Return the width of the terminal in cells; None where stdout (stderr with `err`) goes elsewhere."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


def line_reader(root: Path) -> ReadLine:
    """Return a reader of source lines of files as spans name them: relative to `root`, or absolute."""

    @functools.lru_cache(maxsize=256)
    def lines(file: str) -> tuple[str, ...]:
        path = root / file
        try:
            if not path.is_file() or path.stat().st_size > _MAX_QUOTED_BYTES:
                return ()
            text = path.read_bytes().decode("utf-8-sig", errors="replace")
        except OSError:  # deleted meanwhile: the place is shown without its line
            return ()
        return tuple(line.removesuffix("\r") for line in text.split("\n"))

    def read_line(file: str, line: int) -> str | None:
        found = lines(file)
        return found[line - 1] if 0 < line <= len(found) else None

    return read_line
