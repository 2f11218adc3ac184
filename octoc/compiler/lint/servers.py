"""Rules over servers."""

from __future__ import annotations

import re

import attrs

from octoc.addresses import is_private_network, plain_http_host
from octoc.compiler.fixes.edits import MakeFix, replaced
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.compiler.pin.packages import Package, fetched_by
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint import INSECURE_URL, UNPINNED_PACKAGE
from octoc.plugin.lint import lint_check


@lint_check(UNPINNED_PACKAGE)
def check_pins(build: Build, sink: DiagnosticSink) -> None:
    """Report a server whose command runs the newest version of a package.

    It is an error in a tap, which other people rely on, and an information in the user's own `.mcp.json`.
    """
    for server in build.resolved.servers:
        if server.command is None:
            continue
        package = fetched_by(server.command, server.args)
        if package is None or package.is_fixed:
            continue
        written = "without a version" if package.version is None else f"at `{package.version}`, which moves"
        sink.report(
            UNPINNED_PACKAGE,
            f"server `{server.name}` runs package `{package.name}` {written}",
            at=place_of_package(server, package),
            help=_advice(package),
            severity=Severity.INFO if server.open else None,
            subject=package.name,
            fix=_pinned(server, package),
        )


def place_of_package(server: Server, package: Package) -> Place:
    """Return the part of the command line that names the package, also inside a script."""
    name = re.compile(rf"(?<![\w@/.-]){re.escape(package.name)}(?![\w/.-])")
    for index, arg in enumerate(server.args):
        match = name.search(arg)
        if match is not None:
            return attrs.evolve(server.place.child("args", index), within=match.span())
    return server.place.child("args")


def _advice(package: Package) -> str:
    if package.registry == "git":
        return "append a commit or the tag of a release, after `@` for uv and pipx and after `#` for npm"
    return f"write `{package.name}{package.joiner}X.Y.Z`"


def _pinned(server: Server, package: Package) -> MakeFix | None:
    """Write the version that the server's snapshot was recorded from. The new definition needs a new snapshot."""
    recorded = server.snapshot.package if server.snapshot is not None else None
    joiner = {"pypi": "==", "npm": "@"}.get(package.registry)
    if recorded is None or joiner is None or not recorded.startswith(f"{package.name}{joiner}"):
        return None
    places = [index for index, arg in enumerate(server.args) if arg == package.name]
    if len(places) != 1:
        return None
    place = server.place.child("args", places[0])
    return replaced(place, package.name, recorded, f"write `{recorded}`, which its tools were recorded from")


@lint_check(INSECURE_URL)
def check_urls(build: Build, sink: DiagnosticSink) -> None:
    """Report plain http to another machine: a warning in development, an error in production.

    Inside a private network, such as one of containers, it is usual.
    """
    severity = Severity.ERROR if build.settings.mode == "production" else Severity.WARNING
    for server in build.resolved.servers:
        if server.url is None:
            continue
        host = plain_http_host(server.url)
        if host is not None:
            sink.report(
                INSECURE_URL,
                f"server `{server.name}` is reached over plain http",
                at=server.place.child("url"),
                help="use https",
                severity=Severity.INFO if is_private_network(host) else severity,
            )
