"""Rules over the headers of a server's definition."""

from __future__ import annotations

from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import definitions
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import REPEATED_HEADER
from octoc.plugin.lint import lint_check


@lint_check(REPEATED_HEADER)
def check_headers(build: Build, sink: DiagnosticSink) -> None:
    """Report headers whose names differ in case alone: no transport connects a server that has two of one name."""
    for definition in definitions(build.sources):
        server = definition.source
        if server.disabled:
            continue
        first: dict[str, str] = {}
        for name in server.headers:
            other = first.setdefault(name.lower(), name)
            if other != name:
                sink.report(
                    REPEATED_HEADER,
                    f"server `{server.name}` has two headers of one name, `{other}` and `{name}`",
                    at=server.place.child("headers", name).key(),
                    related={f"`{other}` is here": server.place.child("headers", other).key()},
                    help="remove one of them: the case of a header's name means nothing",
                )
