"""`octoc build`: compile the workspace to its bundle and lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import fail_on_option, format_options, verbose_option, workspace_option

if TYPE_CHECKING:
    from octoc.compiler.build import Outcome


@click.command
@workspace_option
@click.option("--locked", is_flag=True, help="Write nothing; each reason why octoc.lock is stale is an error.")
@click.option("--strict", is_flag=True, help="Write no bundle when there is an error. Always so in production mode.")
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="The bundle's path, not dist/<name>.octoc."
)
@format_options("full", "concise", "json", "sarif", "github", "junit")
@fail_on_option
@verbose_option
def command(
    workspace: Path | None,
    locked: bool,
    strict: bool,
    output: Path | None,
    output_format: str,
    fail_on: str,
    verbose: bool,
) -> int:
    """Compile the workspace to one file.

    It also updates octoc.lock. With --json stdout is one object: name, bundle, digest, size in bytes, changes,
    unchanged, diagnostics.
    """
    from octoc.cli.progress import ProgressLine
    from octoc.cli.report import FOR_PEOPLE, exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    root = workspace_root(workspace)
    from octoc.compiler.build import build

    with ProgressLine() as progress:
        outcome = build(root, locked=locked, strict=strict, output=output, progress=progress)
    if output_format == "json":
        _print_json(outcome)
    else:
        print_diagnostics(outcome.diagnostics, root, output_format=output_format, verbose=verbose, fail_on=fail_on)
        _print_outcome(outcome, root, locked=locked, err=output_format not in FOR_PEOPLE)
    return exit_status(outcome.diagnostics, fail_on)


def _print_outcome(outcome: Outcome, root: Path, *, locked: bool, err: bool) -> None:
    from octoc.diagnostics.render import escape

    for change in outcome.changes:
        click.echo(f"octoc.lock: {escape(change)}", err=err)
    if locked:
        click.echo("compared with octoc.lock; nothing was written", err=True)
        return
    if outcome.bundle is None:
        click.echo("no bundle was written", err=True)
        return
    path = outcome.bundle.relative_to(root) if outcome.bundle.is_relative_to(root) else outcome.bundle
    state = "unchanged" if outcome.unchanged else "built"
    click.echo(f"{state}: {escape(str(path))}, {outcome.size:,} bytes, {outcome.digest[:16]}", err=err)


def _print_json(outcome: Outcome) -> None:
    import json

    from octoc.diagnostics.render import as_object

    fields = {
        "name": outcome.name,
        "bundle": None if outcome.bundle is None else str(outcome.bundle),
        "digest": outcome.digest,
        "size": outcome.size,
        "changes": list(outcome.changes),
        "unchanged": outcome.unchanged,
        "diagnostics": [as_object(diagnostic) for diagnostic in outcome.diagnostics],
    }
    click.echo(json.dumps(fields, indent=2))
