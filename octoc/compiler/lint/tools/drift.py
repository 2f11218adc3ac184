"""Rules over recorded tools that differ from the pins of `octoc.lock`: changes that were not reviewed.

The lock has only digests. `octoc pin`, which compares two lists of tools, distinguishes breaking changes from others.
A build writes the lock from the recorded tools; hence only a check reports differences.
"""

from __future__ import annotations

from octoc.compiler.lint.tools.recorded import recorded_tools
from octoc.compiler.lint.workspace import LintRun
from octoc.compiler.lock.content import REVISION, tool_pin
from octoc.compiler.model.resolved import Server
from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Rule, Severity
from octoc.diagnostics.rules import lint_tools as rules
from octoc.names import ToolId, passes_filter
from octoc.plugin.lint import lint_check

_PARTS: tuple[tuple[str, str, Rule, str], ...] = (
    ("input_schema", "has another input schema", rules.DRIFT_SCHEMA, "inputSchema"),
    ("output_schema", "has another output schema", rules.DRIFT_SCHEMA, "outputSchema"),
    ("annotations", "has other annotations", rules.DRIFT_SCHEMA, "annotations"),
    ("description", "has another description", rules.DRIFT_WORDING, "description"),
)
"""Part of a pin, what a change of it means, its rule, and the key; changes that are more than words first."""
_OTHER = ("has another title or other members", rules.DRIFT_WORDING, "name")
_HELP = "run `octoc build`, review what changes in `octoc.lock`, and commit it"


@lint_check(rules.DRIFT_BREAKING, rules.DRIFT_SCHEMA, rules.DRIFT_WORDING)
def check_drift(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report each tool that is new, missing or different from its pin in `octoc.lock`."""
    lock = workspace.lock
    if lock is None:
        return
    recorded = {tool.id: tool for tool in recorded_tools(workspace)}
    for server in workspace.resolved.servers:
        pins = lock.snapshots.get(server.name)
        if pins is None:
            continue
        if server.snapshot is None:
            _report_lost(server, len(pins.tools), workspace, sink)
            continue
        names = [tool.name for tool in server.snapshot.listing.tools]
        for name in sorted(pins.tools.keys() - set(names)):
            if not passes_filter(server.include, server.exclude, name):
                continue
            sink.report(
                rules.DRIFT_BREAKING,
                f"tool `{server.name}/{name}` is in `{LOCK_FILE}` and is no longer recorded",
                at=server.snapshot.place.child("tools"),
                help=_HELP,
            )
        for name in names:
            tool = recorded.get(ToolId(server.name, name))
            if tool is None:
                continue  # the server's filter excludes it
            pin, now = pins.tools.get(name), tool_pin(tool.wire)
            if pin is not None and pin.digest == now.digest:
                continue
            if pin is None:
                change, rule, part = "is new", rules.DRIFT_SCHEMA, "name"
            else:
                # An older lock has an empty digest of what it did not pin yet.
                known = _PARTS if lock.revision >= REVISION else [one for one in _PARTS if getattr(pin, one[0])]
                changes = (one[1:] for one in known if getattr(pin, one[0]) != getattr(now, one[0]))
                change, rule, part = next(changes, _OTHER)
            sink.report(
                rule,
                f"tool `{tool.id}` {change} since `{LOCK_FILE}` was written",
                at=tool.place.child(part),
                help=_HELP,
                # A model reads a description, and no other words of a tool.
                severity=Severity.WARNING if part == "description" else None,
            )


def _report_lost(server: Server, tools: int, workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report a snapshot that the lock pins and that is gone; one that cannot be read has a finding of its own."""
    if any(
        file.kind.role == "snapshots" and file.key.get("server") == server.name for file in workspace.discovered.files
    ):
        return
    many = "1 tool" if tools == 1 else f"{tools} tools"
    sink.report(
        rules.DRIFT_BREAKING,
        f"server `{server.name}` has {many} in `{LOCK_FILE}`, and its snapshot is gone",
        at=server.place.key(),
        help=f"restore `snapshots/{server.name}.json`, or run `octoc pin {server.name}`",
    )
