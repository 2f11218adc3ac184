"""`octoc expand`: ask a plugin for more triggers, and write them for review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import format_options, workspace_option

if TYPE_CHECKING:
    from octoc.compiler.expand.ask_plugins import ExpansionReport
    from octoc.diagnostics.model import DiagnosticSink


@click.command
@click.argument("capabilities", nargs=-1, metavar="[CAPABILITY...]")
@click.option("--again", is_flag=True, help="Also ask for capabilities that did not change since the last time.")
@workspace_option
@format_options("full", "concise", "json")
def command(capabilities: tuple[str, ...], again: bool, workspace: Path | None, output_format: str) -> int:
    """Ask plugins for more triggers of capabilities.

    octoc asks for each CAPABILITY, or each one with triggers, that is new or was reworded. It writes the answers to
    routing/expanded.toml, which every build reads: review that file. Lines that you delete there stay deleted. The exit
    status is 1 when a capability could not be expanded.
    """
    from octoc.cli.failures import UserError, write_errors
    from octoc.cli.progress import ProgressLine
    from octoc.cli.report import exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    root = workspace_root(workspace)
    from octoc.compiler.expand.ask_plugins import expand
    from octoc.compiler.inputs.routing import EXPANDED_FILE
    from octoc.compiler.read.spans import SpanIndex
    from octoc.compiler.read.text import text_reader
    from octoc.compiler.workspace.build import resolve_workspace
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.diagnostics.rule import Severity

    build, found, plugins = resolve_workspace(root)
    if build is None or plugins is None:
        print_diagnostics(found, root, output_format="full", verbose=False, err=True)
        return 2
    # Parts that cannot be read would be lost when the file is written again.
    broken = [d for d in found if d.severity >= Severity.ERROR and _is_of_the_file(d.span.file if d.span else "")]
    if broken:
        print_diagnostics(tuple(broken), root, output_format="full", verbose=False, err=True)
        return 1
    sink = DiagnosticSink(SpanIndex(text_reader(root)))
    with ProgressLine(is_quiet=output_format == "json") as progress, write_errors(root / EXPANDED_FILE):
        outcome = expand(build, root, plugins, sink, names=capabilities, again=again, advance=progress)
    if not outcome.answers:
        raise UserError(
            "no installed plugin expands triggers",
            "name a plugin with the hook `octoc_expand_triggers` under `[plugins] use`; routing works without one",
        )
    if output_format == "json":
        _print_json(outcome, sink)
    else:
        _print(outcome)
        if sink.diagnostics:
            print_diagnostics(sink.diagnostics, root, output_format=output_format, verbose=False, err=True)
    return exit_status(sink.diagnostics, "error")


def _is_of_the_file(file: str) -> bool:
    from octoc.compiler.inputs.routing import EXPANDED_FILE

    return file == EXPANDED_FILE


def _print(outcome: ExpansionReport) -> None:
    from octoc.compiler.inputs.routing import EXPANDED_FILE
    from octoc.diagnostics.render import escape

    for asked in outcome.asked:
        left_out = f", {asked.dropped} left out" if asked.dropped else ""
        click.echo(f"{escape(asked.capability)}: {len(asked.new)} new, {asked.kept} kept{left_out}")
    for name in outcome.gone:
        click.echo(f"{escape(name)}: no tap has this capability, so its texts were removed")
    if outcome.current:
        many = "1 capability" if len(outcome.current) == 1 else f"{len(outcome.current)} capabilities"
        click.echo(f"{many} unchanged: not asked again")
    click.echo(f"review {EXPANDED_FILE}" if outcome.changed else f"{EXPANDED_FILE} is unchanged")


def _print_json(outcome: ExpansionReport, sink: DiagnosticSink) -> None:
    import json

    from octoc.diagnostics.render import as_object

    fields = {
        "asked": [
            {"capability": one.capability, "new": list(one.new), "kept": one.kept, "dropped": one.dropped}
            for one in outcome.asked
        ],
        "current": list(outcome.current),
        "gone": list(outcome.gone),
        "changed": outcome.changed,
        "diagnostics": [as_object(diagnostic) for diagnostic in sink.diagnostics],
    }
    click.echo(json.dumps(fields, indent=2, ensure_ascii=False))
