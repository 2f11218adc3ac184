"""Rules over servers of the Octopus REST protocol, which limits names and number of tools."""

from __future__ import annotations

import re

from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_mcp import REST_TOO_MANY_TOOLS, REST_TOOL_NAME

MAX_TOOLS = 100
"""Source: Octopus, tool servers."""
LEFT_OUT = "toolsLeftOut"
"""Where a snapshot's `serverInfo` says how many tools beyond the limit the transport left out."""
_NAME = re.compile(r"[a-z0-9_]+")


def check_rest(build: Build, sink: DiagnosticSink, *, strict: bool) -> None:
    """Report recorded tools of REST servers that no transport takes: too many of them, or of another name.

    More than a hundred tools are a warning, and an error in a strict build.
    """
    for server in build.resolved.servers:
        if server.transport != "rest" or server.snapshot is None:
            continue
        listing = server.snapshot.listing
        left_out = listing.server_info.get(LEFT_OUT)
        count = len(listing.tools) + (left_out if isinstance(left_out, int) else 0)
        if count > MAX_TOOLS:
            sink.report(
                REST_TOO_MANY_TOOLS,
                f"server `{server.name}` has {count} tools: over `rest` only the first {MAX_TOOLS} are taken",
                at=server.place,
                help="split it into several servers",
                severity=Severity.ERROR if strict else Severity.WARNING,
            )
        for index, tool in enumerate(listing.tools):
            if not _NAME.fullmatch(tool.name):
                sink.report(
                    REST_TOOL_NAME,
                    f"tool `{tool.name}` of server `{server.name}` has a name that `rest` does not take",
                    at=_place(server, index),
                    help=f"expected lower-case letters, digits and `_`, as `{_usual(tool.name)}`",
                )


def _place(server: Server, index: int) -> Place:
    assert server.snapshot is not None  # noqa: S101  # the caller has looked
    written = server.snapshot.indexes
    return server.snapshot.place.child("tools", written[index] if written else index, "name")


def _usual(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()).strip("_") or "tool"
