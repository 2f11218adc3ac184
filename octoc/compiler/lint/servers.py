"""Rules over servers."""

from __future__ import annotations

from urllib.parse import urlsplit

from octoc.compiler.model.resolved import Scoped
from octoc.compiler.packages import package_of
from octoc.diagnostics.model import DiagnosticSink, Severity
from octoc.diagnostics.rules.lint import INSECURE_URL, UNPINNED_PACKAGE

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check_pins(scoped: Scoped, sink: DiagnosticSink) -> None:
    """Report a server of a tap whose command would run whatever version is newest today."""
    for server in scoped.resolved.servers:
        if server.open or server.command is None:
            continue
        package = package_of(server.command, server.args)
        if package is not None and package.version is None:
            sink.report(
                UNPINNED_PACKAGE,
                f"server `{server.name}` runs package `{package.name}` without a version",
                at=server.place.child("args"),
                help=f"write `{package.name}{'==' if package.registry == 'pypi' else '@'}X.Y.Z`",
            )


def check_urls(scoped: Scoped, sink: DiagnosticSink) -> None:
    """Report plain http beyond loopback: a warning in development, an error in production."""
    mode = scoped.resolved.sources.discovered.settings.mode
    for server in scoped.resolved.servers:
        if server.url is None:
            continue
        parts = urlsplit(server.url)
        if parts.scheme == "http" and (parts.hostname or "") not in _LOOPBACK:
            sink.report(
                INSECURE_URL,
                f"server `{server.name}` is reached over plain http",
                at=server.place.child("url"),
                help="use https",
                severity=Severity.ERROR if mode == "production" else Severity.WARNING,
            )
