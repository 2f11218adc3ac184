"""`octoc report`: one page on the whole workspace, or the same as JSON or Markdown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import format_options, no_cache_option, workspace_option

if TYPE_CHECKING:
    from octoc.report.model import WorkspaceReport

_STDOUT = Path("-")


@click.command
@workspace_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE, `-` for stdout. Default: dist/report.html, and stdout for markdown and json.",
)
@no_cache_option
@format_options("html", "markdown", "json")
def command(workspace: Path | None, output: Path | None, *, no_cache: bool, output_format: str) -> int:
    """Write a report on the workspace.

    It shows tokens, scopes, a graph, routing, findings and drift. The page is one file that needs no script and no
    network; markdown is a summary for a pull request. octoc builds into a temporary folder, runs the fixtures, starts
    no server, and writes neither the bundle nor octoc.lock. The exit status is 0 whatever the report says: `octoc
    check`, `octoc test` and `octoc diff` fail.
    """
    from octoc.cli.collector import rare_collections
    from octoc.cli.failures import UnreadableWorkspaceError, write_errors
    from octoc.cli.fetched_taps import fetch_taps_of
    from octoc.cli.progress import ProgressLine
    from octoc.cli.workspace import workspace_root
    from octoc.report.collect import UnreadableSettingsError, collect
    from octoc.whole_files import write_whole

    root = workspace_root(workspace)
    fetch_taps_of(root)
    try:
        with ProgressLine() as progress, rare_collections():
            report = collect(root, progress=progress, use_cache=not no_cache)
    except UnreadableSettingsError as error:
        raise UnreadableWorkspaceError(error.diagnostics, root) from None
    text = _rendered(report, output_format)
    if output == _STDOUT or (output is None and output_format != "html"):
        click.echo(text, nl=False)
        return 0
    path = root / "dist" / "report.html" if output is None else output
    with write_errors(path):
        write_whole(path, text.encode())
    click.echo(f"written: {os.path.relpath(path)}, {len(text.encode()):,} bytes")
    return 0


def _rendered(report: WorkspaceReport, output_format: str) -> str:
    if output_format == "json":
        import json

        from octoc.report.plain import as_object

        return json.dumps(as_object(report), indent=2) + "\n"
    if output_format == "markdown":
        from octoc.report.markdown import render_markdown

        return render_markdown(report)
    from octoc.report.html import render_html

    return render_html(report)
