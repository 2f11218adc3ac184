"""`octoc check --fix` and `--diff`: apply or show fixes, and report what remains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from octoc.cli.failures import UserError
from octoc.cli.report import is_coloured, paint_for
from octoc.diagnostics.render import escape

if TYPE_CHECKING:
    from octoc.compiler.checkup.paths import CheckedPaths
    from octoc.compiler.fixes.apply import FixOutcome
    from octoc.compiler.workspace.environment import Environment
    from octoc.diagnostics.model import Diagnostic


def apply_fixes(checked: CheckedPaths, environment: Environment | None) -> bool:
    """Apply the fixes, report them on stderr, and return whether a file has changed.

    Raises: UserError when a file cannot be written; no file is then changed.
    """
    plans = _plans(checked, environment)
    changes = {change.path: change for plan in plans for change in plan.changes}
    from octoc.compiler.fixes.apply import write_changes

    trouble = write_changes(list(changes.values()))
    if trouble is not None:
        raise UserError(f"nothing was fixed: {trouble}", "run the command again")
    _say(plans, f"fixed {_count(plans)} in {_files(len(changes))}", "nothing to fix" if not changes else "")
    _say_by_hand(checked)
    return bool(changes)


def show_fixes(checked: CheckedPaths, environment: Environment | None) -> None:
    """Print what `apply_fixes` would change as a unified diff. What looks like a secret is masked in it."""
    plans = _plans(checked, environment)
    from octoc.compiler.checkup.autofix import unified_diff

    changes = {change.path: change for plan in plans for change in plan.changes}
    paint = paint_for()
    roles = {"-": "error", "+": "bold", "@": "gutter"}
    for change in changes.values():
        for line in unified_diff(change):
            # A diff without its tabs would not apply.
            text = "\t".join(map(escape, line.removesuffix("\r").split("\t")))
            role = roles.get(line[:1])
            click.echo(paint(role, text) if role else text, color=is_coloured())
    _say(plans, f"would fix {_count(plans)} in {_files(len(changes))}", "nothing to fix" if not changes else "")
    _say_by_hand(checked)


def _plans(checked: CheckedPaths, environment: Environment | None) -> list[FixOutcome]:
    from octoc.compiler.checkup.autofix import fixes_of

    return [fixes_of(target, checkup, environment=environment) for target, checkup in checked.parts]


def _say(plans: Iterable[FixOutcome], done: str, nothing: str) -> None:
    click.echo(nothing or done, err=True)
    outside = [found for plan in plans for found in plan.outside]
    if outside:
        click.echo(f"{len(outside)} more could be fixed in files outside this folder: {_first(outside)}", err=True)
    for found in (found for plan in plans for found in plan.refused):
        click.echo(f"not fixed, because the result would be invalid: {_where(found)}", err=True)


def _say_by_hand(checked: CheckedPaths) -> None:
    """Print how many findings suggest names of which none is sure enough for a fix."""
    asked = [one for one in checked.diagnostics if one.fix is None and "did you mean" in (one.help or "")]
    if asked:
        many = "1 finding suggests a name" if len(asked) == 1 else f"{len(asked)} findings suggest names"
        click.echo(f"{many} without a safe choice: fix by hand, {_first(asked)}", err=True)


def _count(plans: Iterable[FixOutcome]) -> str:
    count = sum(len(plan.applied) for plan in plans)
    return f"{count} finding{'' if count == 1 else 's'}"


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def _first(found: list[Diagnostic]) -> str:
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{_where(found[0])}{more}"


def _where(found: Diagnostic) -> str:
    span = found.span
    place = "" if span is None else f" at {span.file}:{span.line}:{span.column}" if span.line else f" in {span.file}"
    return escape(f"{found.rule.code}{place}")
