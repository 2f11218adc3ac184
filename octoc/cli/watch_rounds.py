"""The rounds of `octoc watch`: check, print what changed since the last round, build."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from octoc.cli.check_selection import refuse_nothing
from octoc.cli.collector import rare_collections
from octoc.cli.progress import ProgressLine
from octoc.cli.report import is_coloured, paint_for
from octoc.compiler.workspace.paths import LOCK_FILE, WORKSPACE_FILE
from octoc.diagnostics.changes import FindingChanges, changes_of
from octoc.diagnostics.render import escape, render_concise, summary
from octoc.diagnostics.rule import Severity
from octoc.lists import some_names

if TYPE_CHECKING:
    from octoc.compiler.checkup.paths import CheckedPaths
    from octoc.compiler.workspace.build import BuildOutcome
    from octoc.diagnostics.model import Diagnostic

_MOST_NEW = 20
_MOST_GONE = 5
_MOST_CHANGES = 5


@attrs.define(kw_only=True)
class WatchRounds:
    """What the last round found, to print only what the next one changes.

    Args:
        root: the workspace, or the folder that is checked; absolute.
        builds: also build. A build without changed inputs does nothing.
        verbose: print infos, too.
    """

    root: Path
    builds: bool
    allow_degraded: bool = False
    verbose: bool = False
    _checked: tuple[Diagnostic, ...] | None = None
    _of_build: tuple[Diagnostic, ...] = ()
    _read: frozenset[Path] = frozenset()
    _has_built: bool = False

    def run(self, changed: Collection[Path]) -> None:
        """Check, then build; print what is new and gone. `changed` are the files that started the round, absolute.

        A round of other files than inputs prints nothing, unless it finds something. Raises: UnavailableError from
        the first round, if there is nothing to check.
        """
        from octoc.compiler.checkup.paths import check_paths

        with ProgressLine() as progress, rare_collections():
            checked = check_paths((), self.root, workspace=self.root, progress=progress)
        if self._checked is None:
            refuse_nothing(checked, has_paths=False)
        self._report_check(checked, changed)
        if self.builds and all(outcome.has_settings for _, outcome in checked.parts):
            self._build(checked.diagnostics)

    def _report_check(self, checked: CheckedPaths, changed: Collection[Path]) -> None:
        found = self._shown(checked.diagnostics)
        read = frozenset[Path]().union(*(outcome.read for _, outcome in checked.parts))
        is_first, before = self._checked is None, self._checked or ()
        if not all(outcome.has_settings for _, outcome in checked.parts):
            # The findings in other files are unknown until octoc.toml can be read again, not gone.
            found = (*found, *(one for one in before if one.span is None or one.span.file != WORKSPACE_FILE))
        changes = changes_of(before, found)
        inputs = [path for path in changed if path in read or path in self._read]
        self._checked, self._read = found, read
        if is_first or changes or inputs:
            count = summary(checked.diagnostics, infos_shown=True).partition("\n")[0]
            self._say(_named(inputs or changed, self.root), count + ("" if is_first else _counted(changes)))
            _print_changes(changes)

    def _build(self, checked: Sequence[Diagnostic]) -> None:
        from octoc.cli.fetched_taps import fetch_taps_of
        from octoc.compiler.workspace.build import build

        try:
            fetch_taps_of(self.root)
        except click.ClickException as error:  # such as a network that is away: the next round tries again
            error.show()
            return
        with ProgressLine() as progress, rare_collections():
            outcome = build(self.root, allow_degraded=self.allow_degraded, progress=progress)
        found = changes_of(checked, outcome.diagnostics).new
        changes = changes_of(self._of_build, self._shown(found))
        self._of_build = self._shown(found)
        is_first, self._has_built = not self._has_built, True
        if changes or not outcome.unchanged or is_first:
            self._say("", _result(outcome, self.root))
            _print_changes(changes)
            _print_lines([f"octoc.lock: {change}" for change in outcome.changes], _MOST_CHANGES)

    def _shown(self, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(one for one in found if self.verbose or one.severity > Severity.INFO)

    @staticmethod
    def _say(files: str, text: str) -> None:
        paint = paint_for()
        time = datetime.now().astimezone().strftime("%H:%M:%S")
        words = f"{escape(files)}: {escape(text)}" if files else escape(text)
        click.echo(f"{paint('gutter', time)} {words}", color=is_coloured())


def _named(changed: Collection[Path], root: Path) -> str:
    names = {os.path.relpath(path, root) if path.is_relative_to(root) else str(path) for path in changed}
    written = {LOCK_FILE} if len(names) > 1 else set()  # by the last round's build
    return some_names(sorted(names - written), 2) if names else ""


def _counted(changes: FindingChanges) -> str:
    parts = [f"{len(found)} {word}" for found, word in ((changes.new, "new"), (changes.gone, "gone")) if found]
    return f" ({', '.join(parts)})" if parts else ""


def _result(outcome: BuildOutcome, root: Path) -> str:
    if outcome.bundle is None:
        return "no bundle was written"
    path = outcome.bundle.relative_to(root) if outcome.bundle.is_relative_to(root) else outcome.bundle
    return f"{'unchanged' if outcome.unchanged else 'built'} {path}, {outcome.size:,} bytes"


def _print_changes(changes: FindingChanges) -> None:
    paint = paint_for()
    for found, sign, most, colour in ((changes.new, "+", _MOST_NEW, True), (changes.gone, "-", _MOST_GONE, False)):
        text = render_concise(found[:most], paint) if colour else render_concise(found[:most])
        for line in text.splitlines():
            click.echo(f"  {paint('bold', sign)} {line}", color=is_coloured())
        if len(found) > most:
            click.echo(f"  {sign} {len(found) - most} more")


def _print_lines(lines: Sequence[str], most: int) -> None:
    for line in lines[:most]:
        click.echo(f"  {escape(line)}")
    if len(lines) > most:
        click.echo(f"  and {len(lines) - most} more")
