"""Lint checks of REST servers: the Octopus REST protocol limits the names and the number of tools."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.plugin import LintWorkspace, Requirement, Rule, Scope, Severity, lint_check
from octoc_transport_rest.protocol import KIND, LEFT_OUT, MAX_TOOLS, TOOL_NAME

if TYPE_CHECKING:
    from octoc.plugin import DiagnosticSink

rule = partial(
    Rule,
    scope=Scope.WORKSPACE,
    needs=frozenset({Requirement.SNAPSHOTS}),
    pages=Path(__file__).with_name("rules"),
)
TOO_MANY_TOOLS = rule(
    "REST001",
    "rest-too-many-tools",
    "A REST server has more tools than the hundred that its protocol allows.",
    Severity.WARNING,
)
BAD_TOOL_NAME = rule(
    "REST002",
    "rest-tool-name",
    "A tool of a REST server has a name that its protocol does not allow.",
    Severity.WARNING,
)


@lint_check(BAD_TOOL_NAME, TOO_MANY_TOOLS)
def check_tools(workspace: LintWorkspace, sink: DiagnosticSink) -> None:
    """Report recorded tools of REST servers that the protocol does not allow: too many, or with another name.

    More than a hundred tools are a warning, and an error in a strict build.
    """
    for server in workspace.servers:
        if server.transport != KIND or server.snapshot is None:
            continue
        listing = server.snapshot.listing
        left_out = listing.server_info.get(LEFT_OUT)
        count = len(listing.tools) + (left_out if isinstance(left_out, int) else 0)
        if count > MAX_TOOLS:
            sink.report(
                TOO_MANY_TOOLS,
                f"server `{server.name}` has {count} tools: over `rest` only the first {MAX_TOOLS} are taken",
                at=server.place,
                help="split it into several servers",
                severity=Severity.ERROR if workspace.strict else Severity.WARNING,
            )
        for index, tool in enumerate(listing.tools):
            if not TOOL_NAME.fullmatch(tool.name):
                sink.report(
                    BAD_TOOL_NAME,
                    f"tool `{tool.name}` of server `{server.name}` has a name that `rest` does not take",
                    at=server.snapshot.place_of(index).child("name"),
                    help=f"expected lower-case letters, digits and `_`, as `{_usual(tool.name)}`",
                )


def _usual(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()).strip("_") or "tool"


CHECKS = (check_tools,)
