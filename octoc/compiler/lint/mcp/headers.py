"""Rules over the headers of a server's definition."""

from __future__ import annotations

from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import definitions
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import REPEATED_HEADER, TWO_CREDENTIALS
from octoc.plugin.lint import lint_check


@lint_check(REPEATED_HEADER)
def check_headers(build: Build, sink: DiagnosticSink) -> None:
    """Report headers whose names differ only in case: no transport connects such a server."""
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
                    help="remove one of them: header names ignore case",
                )


@lint_check(TWO_CREDENTIALS)
def check_credentials(build: Build, sink: DiagnosticSink) -> None:
    """Report a server with both `auth` and a header `Authorization`: no transport connects it."""
    for definition in definitions(build.sources):
        server = definition.source
        name = next((name for name in server.headers if name.lower() == "authorization"), None)
        if server.auth and name is not None and not server.disabled:
            sink.report(
                TWO_CREDENTIALS,
                f"server `{server.name}` has both `auth` and a header `{name}`",
                at=server.place.child("headers", name).key(),
                help="remove one of them: both would be the credential of every request",
            )
