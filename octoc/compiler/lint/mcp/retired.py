"""A rule over packages of servers that are archived, renamed, removed or were never published."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import attrs

from octoc.compiler.lint.servers import place_of_package
from octoc.compiler.model.build import Build
from octoc.compiler.pin.packages import fetched_by
from octoc.compiler.workspace.paths import CORE_TAP
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import RETIRED_PACKAGE
from octoc.plugin.lint import lint_check

_STATES: Mapping[str, str] = {
    "archived": "is archived: it gets no more fixes",
    "deprecated": "is deprecated",
    "renamed": "has a new name",
    "missing": "is not on {registry}",
    "malicious": "was removed from {registry} as malware",
}
_UNUSABLE = frozenset({"missing", "malicious"})
_REGISTRIES = {"npm": "npm", "pypi": "PyPI"}


@attrs.frozen(kw_only=True)
class Retired:
    """What a source says of a package on the day of `seen`. `instead` is empty where it names no successor."""

    registry: str
    name: str
    state: str
    instead: str
    seen: dt.date
    url: str


@cache
def retired_packages() -> Mapping[tuple[str, str], Retired]:
    """Return the shipped list by registry and name; names of PyPI are normalized."""
    text = Path(__file__).with_name("retired_packages.toml").read_text(encoding="utf-8")
    return {
        (source["registry"], name): Retired(
            registry=source["registry"],
            name=name,
            state=source["state"],
            instead=instead,
            seen=source["seen"],
            url=source["url"],
        )
        for source in tomllib.loads(text)["source"]
        for name, instead in source["packages"].items()
    }


@lint_check(RETIRED_PACKAGE)
def check_retired(build: Build, sink: DiagnosticSink) -> None:
    """Report a server whose package is on the list: an error where it cannot be installed or is unsafe."""
    for server in build.resolved.servers:
        if server.place.file.startswith(f"{CORE_TAP}/"):
            continue  # octoc's own maintainers choose it
        package = fetched_by(server.command, server.args) if server.command is not None else None
        retired = retired_packages().get(package.key) if package is not None else None
        if package is None or retired is None:
            continue
        state = _STATES[retired.state].format(registry=_REGISTRIES[retired.registry])
        sink.report(
            RETIRED_PACKAGE,
            f"server `{server.name}` runs package `{package.name}`, which {state}",
            at=place_of_package(server, package),
            severity=Severity.ERROR if retired.state in _UNUSABLE else Severity.WARNING,
            notes=(f"seen on {retired.seen}: {retired.url}",),
            help=f"use {retired.instead}" if retired.instead else "look for a server that is maintained",
            subject=package.name,
        )
