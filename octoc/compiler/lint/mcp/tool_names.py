"""A rule over names of servers whose tools a client cannot tell apart."""

from __future__ import annotations

from octoc.aliases import sanitize
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_servers import COLLIDING_NAMES
from octoc.plugin.lint import lint_check

_JOINT = "__"
"""What separates a server from a tool. Source: Claude Code 2.1.88, which splits `mcp__SERVER__TOOL` at it.

Others write `-` as `_` in names of tools, such as Pi's adapter (`types.ts` of 2.10).
"""


@lint_check(COLLIDING_NAMES)
def check_collisions(build: Build, sink: DiagnosticSink) -> None:
    """Report a server beside one of which its name has the prefix `NAME__`, or whose name is written the same."""
    for file in build.sources.mcp_files:
        if file.dialect == OCTOMIND:
            continue
        by_name: dict[str, ServerSource] = {}
        by_form: dict[str, ServerSource] = {}
        enabled = [server for server in file.servers if not server.disabled]
        for server in enabled:
            first = by_name.setdefault(sanitize(server.name), server)
            alike = by_form.setdefault(sanitize(server.name).replace("-", "_").lower(), server)
            if first is not server:
                _report(server, first, "both are written `{name}` in names of tools", sink)
            elif alike is not server:
                _report(server, alike, "their names differ only in case or in `-` and `_`", sink)
        for name, server in by_name.items():
            parts = name.split(_JOINT)
            prefixes = (_JOINT.join(parts[:count]) for count in range(1, len(parts)))
            other = next((by_name[prefix] for prefix in prefixes if prefix in by_name), None)
            if other is not None:
                _report(server, other, "tool `{name}__…` reads as a tool of `{other}`", sink)


def _report(server: ServerSource, first: ServerSource, why: str, sink: DiagnosticSink) -> None:
    what = why.format(name=sanitize(server.name), other=first.name)
    sink.report(
        COLLIDING_NAMES,
        f"servers `{first.name}` and `{server.name}` collide: {what}",
        at=server.place.key(),
        related={f"`{first.name}` is here": first.place.key()},
        notes=("permissions and lists of tools for one of them then apply to the other",),
        help="give one of them another name",
    )
