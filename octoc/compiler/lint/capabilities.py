"""Rules over capabilities."""

from __future__ import annotations

from octoc.compiler.model.resolved import Scoped
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint import NO_TRIGGERS, NOTHING_TO_ACTIVATE


def check_triggers(scoped: Scoped, sink: DiagnosticSink) -> None:
    """Report a capability that no message can activate."""
    for capability in scoped.resolved.capabilities:
        if not capability.triggers:
            sink.report(
                NO_TRIGGERS,
                f"capability `{capability.name}` has no trigger: only an agent or `capability(enable)` can activate it",
                at=capability.place,
                help=f"add `triggers` to capabilities/{capability.name}/config.toml",
            )


def check_substance(scoped: Scoped, sink: DiagnosticSink) -> None:
    """Report a capability that would activate nothing."""
    for capability in scoped.resolved.capabilities:
        if not capability.grants and not capability.deps:
            sink.report(
                NOTHING_TO_ACTIVATE,
                f"capability `{capability.name}` has no server and no dependency left: there is nothing to activate",
                at=capability.place,
                help="add a `[[mcp.servers]]` or `[deps]`",
            )
