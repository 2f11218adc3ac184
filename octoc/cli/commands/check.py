"""`octoc check`: every mistake in the workspace, nothing written."""

from __future__ import annotations

from pathlib import Path

import click

from octoc.cli.options import fail_on_option, format_options, verbose_option, workspace_option


@click.command
@workspace_option
@format_options("full", "concise", "json")
@fail_on_option
@verbose_option
def command(workspace: Path | None, output_format: str, fail_on: str, verbose: bool) -> int:
    """Find every mistake; write nothing."""
    from octoc.cli.progress import ProgressLine
    from octoc.cli.report import exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    root = workspace_root(workspace)
    from octoc.compiler.build import check

    with ProgressLine() as progress:
        outcome = check(root, progress=progress)
    print_diagnostics(outcome.diagnostics, root, output_format=output_format, verbose=verbose)
    return exit_status(outcome.diagnostics, fail_on)
