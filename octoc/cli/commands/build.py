"""`octoc build`: compile the workspace to its bundle and lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import (
    allow_degraded_option,
    fail_on_option,
    format_options,
    no_cache_option,
    verbose_option,
    workspace_option,
)
from octoc.diagnostics.render import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octoc.compiler.workspace.build import BuildOutcome

_MOST_ROWS = 12
_MOST_UNLISTED = 3


@click.command
@workspace_option
@click.option(
    "--locked", is_flag=True, help="Write nothing, read no cache; report every difference from octoc.lock as an error."
)
@click.option("--strict", is_flag=True, help="Write no bundle if there is an error. Always on in production mode.")
@allow_degraded_option
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="The bundle's path, not dist/<name>.octoc."
)
@no_cache_option
@format_options(*FORMATS)
@fail_on_option
@verbose_option
def command(
    workspace: Path | None,
    locked: bool,
    strict: bool,
    allow_degraded: bool,
    output: Path | None,
    no_cache: bool,
    output_format: str,
    fail_on: str,
    verbose: bool,
) -> int:
    """Compile the workspace to one file.

    It also updates octoc.lock. With --json stdout is one object: name, bundle, digest, size in bytes, changes,
    unchanged, diagnostics, bill.
    """
    from octoc.cli.collector import rare_collections
    from octoc.cli.progress import ProgressLine
    from octoc.cli.report import FOR_PEOPLE, exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    root = workspace_root(workspace)
    from octoc.compiler.workspace.build import build

    with ProgressLine() as progress, rare_collections():
        outcome = build(
            root,
            locked=locked,
            strict=strict,
            allow_degraded=allow_degraded,
            output=output,
            progress=progress,
            use_cache=not no_cache,
        )
    if output_format == "json":
        _print_json(outcome)
    else:
        print_diagnostics(outcome.diagnostics, root, output_format=output_format, verbose=verbose, fail_on=fail_on)
        _print_outcome(outcome, root, locked=locked, err=output_format not in FOR_PEOPLE)
    return exit_status(outcome.diagnostics, fail_on)


def _print_outcome(outcome: BuildOutcome, root: Path, *, locked: bool, err: bool) -> None:
    from octoc.diagnostics.render import escape

    for change in outcome.changes:
        click.echo(f"octoc.lock: {escape(change)}", err=err)
    if locked:
        click.echo("compared with octoc.lock; nothing was written", err=True)
        return
    if outcome.bundle is None:
        click.echo("no bundle was written", err=True)
        return
    for line in _gate_notes(outcome):
        click.echo(f"gate: {escape(line)}", err=err)
    for line in _unlisted_servers(outcome):
        click.echo(f"warning: {escape(line)}", err=True)
    path = outcome.bundle.relative_to(root) if outcome.bundle.is_relative_to(root) else outcome.bundle
    _print_tokens(outcome, err=err)
    state = "unchanged" if outcome.unchanged else "built"
    click.echo(f"{state}: {escape(str(path))}, {outcome.size:,} bytes, {outcome.digest[:16]}", err=err)


def _print_tokens(outcome: BuildOutcome, *, err: bool) -> None:
    """Print the token costs of tools, highest first; plain text, because a build without work must not load rich."""
    agents = sorted(outcome.tokens.agents, key=lambda one: (-one.direct_tokens, one.agent))
    rows = [(one.agent, one.direct_tools, one.direct_tokens, one.deferred_tools, one.deferred_tokens) for one in agents]
    _print_rows(("agent", "shown", "tokens", "deferred", "tokens"), rows, err=err)
    known = [one for one in outcome.tokens.capabilities if one.tools]
    known.sort(key=lambda one: (-one.tokens, one.capability))
    _print_rows(("capability", "tools", "tokens"), [(one.capability, one.tools, one.tokens) for one in known], err=err)
    unknown = len(outcome.tokens.capabilities) - len(known)
    if unknown:
        click.echo(f"{unknown} without recorded tools: their cost is unknown", err=err)


def _print_rows(header: Sequence[str], rows: Sequence[Sequence[str | int]], *, err: bool) -> None:
    from octoc.diagnostics.render import escape

    if not rows:
        return
    shown = [[escape(cell) if isinstance(cell, str) else f"{cell:,}" for cell in row] for row in rows[:_MOST_ROWS]]
    lines = [list(header), *shown]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    for first, *numbers in lines:
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
        click.echo("  ".join([first.ljust(widths[0]), *cells]), err=err)
    if len(rows) > _MOST_ROWS:
        click.echo(f"and {len(rows) - _MOST_ROWS} more: use --json for all", err=err)


def _gate_notes(outcome: BuildOutcome) -> list[str]:
    """Return how the gate's threshold was chosen if the workspace asks for it: infos are hidden by default."""
    from octoc.diagnostics.rules.plugin import THRESHOLD_CHOSEN

    return [found.message for found in outcome.diagnostics if found.rule == THRESHOLD_CHOSEN]


def _unlisted_servers(outcome: BuildOutcome) -> list[str]:
    """Return a warning for the servers without a snapshot, which are infos for a check."""
    from octoc.diagnostics.rule import Severity
    from octoc.diagnostics.rules.resolve import UNLISTED_SERVER

    unlisted = [one for one in outcome.diagnostics if one.rule == UNLISTED_SERVER and one.severity == Severity.INFO]
    if len(unlisted) > _MOST_UNLISTED:
        return [f"the tools of {len(unlisted)} servers are not recorded: run `octoc pin`"]
    return [f"{one.message}: {one.help}" for one in unlisted]


def _print_json(outcome: BuildOutcome) -> None:
    import json

    import attrs

    from octoc.diagnostics.render import as_object

    fields = {
        "name": outcome.name,
        "bundle": None if outcome.bundle is None else str(outcome.bundle),
        "digest": outcome.digest,
        "size": outcome.size,
        "changes": list(outcome.changes),
        "unchanged": outcome.unchanged,
        "bill": attrs.asdict(outcome.tokens),
        "diagnostics": [as_object(diagnostic) for diagnostic in outcome.diagnostics],
    }
    click.echo(json.dumps(fields, indent=2))
