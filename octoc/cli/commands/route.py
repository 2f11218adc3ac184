"""`octoc route "message"`: what a message would activate, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.options import agent_option, bundle_option, format_options, verbose_option, workspace_option

if TYPE_CHECKING:
    from octoc.bundle.model import Gate
    from octoc.runtime import Routing, Session

_SHOWN = 10
_ENCODER = "embed-onnx"


@click.command
@click.argument("message")
@workspace_option
@bundle_option
@agent_option
@format_options("text", "json")
@verbose_option
def command(
    message: str, workspace: Path | None, bundle: Path | None, agent: str, output_format: str, verbose: bool
) -> int:
    """Show how MESSAGE is routed.

    Scores, gate and decision are printed; nothing is activated.
    """
    from octoc.cli.failures import plugin_missing
    from octoc.cli.workspace import log_to_stderr, target_of, with_session

    log_to_stderr(verbose=verbose)

    def work(session: Session) -> tuple[Routing, Gate | None]:
        routing = session.route(message)
        if routing.reason.startswith("no-encoder") and _ENCODER in session.runtime.plugins.missing:
            raise plugin_missing(_ENCODER)
        return routing, session.runtime.bundle.gate

    routing, gate = with_session(target_of(bundle, workspace), agent, work)
    if output_format == "json":
        import json

        fields = {
            "message": message,
            "intent": routing.intent,
            "agent": agent,
            "capability": routing.capability,
            "reason": routing.reason,
            "gate": None if gate is None else {"kind": gate.kind, "top_k": gate.top_k},
            "threshold": routing.threshold,
            "margin": routing.margin,
            "scores": [{"name": name, "score": score} for name, score in routing.scores.items()],
        }
        click.echo(json.dumps(fields, indent=2))
        return 0
    from octoc.cli.tables import print_table
    from octoc.diagnostics.render import escape

    click.echo(f"decision: {escape(routing.capability or 'abstain')} ({escape(routing.reason)})")
    click.echo(f"intent:   {escape(routing.intent)}")
    if gate is not None:
        click.echo(f"gate:     {escape(gate.kind)}, threshold {routing.threshold:.4f}, margin {routing.margin:.4f}")
    shown = list(routing.scores.items())
    shown = shown if verbose else shown[:_SHOWN]
    print_table("scores", ("capability", "score"), [(name, f"{score:.4f}") for name, score in shown])
    if len(shown) < len(routing.scores):
        click.echo(f"{len(routing.scores) - len(shown)} more: --verbose shows them", err=True)
    return 0
