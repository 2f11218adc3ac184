"""A rule over packages of servers that are archived, renamed, withdrawn, removed or were never published."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from octoc.compiler.lint.servers import place_of_package
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.compiler.pin.packages import Package, fetched_by, requested
from octoc.compiler.workspace.paths import CORE_TAP
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import RETIRED_PACKAGE
from octoc.diagnostics.suggest import near_miss, near_names, slips_of
from octoc.lists import one_of
from octoc.plugin.lint import lint_check

_STATES: Mapping[str, str] = {
    "archived": "is archived: it gets no more fixes",
    "deprecated": "is deprecated",
    "renamed": "has a new name",
    "missing": "is not on {registry}",
    "other": "is not on {registry}",
    "withdrawn": "has only yanked releases on {registry}",
    "malicious": "was removed from {registry} as malware",
}
_UNUSABLE = frozenset({"missing", "other", "malicious"})
_SCOPED = re.compile(r"@[\w.-]+/[\w.-]+")
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==[\w.*+!-]+")
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


@attrs.frozen(kw_only=True)
class _Scope:
    """The names that a publisher's own scope has: what follows `prefix` in each. `instead` is advice for others.

    `is_of_other`: the publisher has its packages in another registry.
    """

    registry: str
    prefix: str
    packages: tuple[str, ...]
    seen: dt.date
    url: str
    instead: str = "look for the server of the program's own makers"
    is_of_other: bool = False


@cache
def _shipped() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("retired_packages.toml").read_text(encoding="utf-8"))


@cache
def _scopes() -> Sequence[_Scope]:
    return [_Scope(**{**scope, "packages": tuple(scope["packages"])}) for scope in _shipped()["scope"]]


@cache
def retired_packages() -> Mapping[tuple[str, str], Retired]:
    """Return the shipped list by registry and name; names of PyPI are normalized."""
    return {
        (source["registry"], name): Retired(
            registry=source["registry"],
            name=name,
            state=source["state"],
            instead=instead,
            seen=source["seen"],
            url=source["url"],
        )
        for source in _shipped()["source"]
        for name, instead in source["packages"].items()
    }


@lint_check(RETIRED_PACKAGE)
def check_retired(build: Build, sink: DiagnosticSink) -> None:
    """Report a server whose package is on the list: an error where it cannot be installed or is unsafe."""
    for server in build.resolved.servers:
        if server.place.file.startswith(f"{CORE_TAP}/"):
            continue  # octoc's own maintainers choose it
        package = fetched_by(server.command, server.args) if server.command is not None else None
        if package is None:
            _check_form(server, sink)
            continue
        retired = retired_packages().get(package.key)
        if retired is None:
            _check_scope(server, package, sink)
            _check_slip(server, package, sink)
            continue
        state = _STATES[retired.state].format(registry=_REGISTRIES[retired.registry])
        at, related = _places(server, package, is_of_other=retired.state == "other")
        is_unusable = retired.state in _UNUSABLE or (retired.state == "withdrawn" and not package.is_fixed)
        sink.report(
            RETIRED_PACKAGE,
            f"server `{server.name}` runs package `{package.name}`, which {state}"
            + (", so it cannot be installed" if retired.state == "withdrawn" and is_unusable else ""),
            at=at,
            related=related,
            severity=Severity.ERROR if is_unusable else Severity.WARNING,
            notes=(f"seen on {retired.seen}: {retired.url}",),
            help=f"use {retired.instead}" if retired.instead else "look for a server that is maintained",
            subject=package.name,
        )


def _places(server: Server, package: Package, *, is_of_other: bool) -> tuple[Place, Mapping[str, Place]]:
    """Return where a finding stands, and what is beside it: the program, where the package is one of another."""
    package_at = place_of_package(server, package)
    if not is_of_other:
        return package_at, {}
    return server.place.child("command"), {"the package is here": package_at}


def _check_scope(server: Server, package: Package, sink: DiagnosticSink) -> None:
    """Report a package whose name is in a publisher's own scope, which has no such package."""
    for scope in _scopes():
        rest = package.name.removeprefix(scope.prefix)
        if package.registry != scope.registry or rest == package.name or rest in scope.packages:
            continue
        near = near_names(rest, scope.packages)
        at, related = _places(server, package, is_of_other=scope.is_of_other)
        sink.report(
            RETIRED_PACKAGE,
            f"server `{server.name}` runs package `{package.name}`, which was not on {_REGISTRIES[scope.registry]}",
            at=at,
            related=related,
            severity=Severity.WARNING,
            notes=(f"seen on {scope.seen}: {scope.url}",),
            help=f"did you mean {one_of(scope.prefix + one for one in near)}?" if near else scope.instead,
            subject=package.name,
        )


def _check_slip(server: Server, package: Package, sink: DiagnosticSink) -> None:
    """Report a package whose name is one letter off a well-known one of the same scope: others cannot publish there."""
    scope, slash, name = package.name.partition("/")
    known = [
        one.removeprefix(scope + slash) for one in _shipped()["known"]["packages"] if one.startswith(scope + slash)
    ]
    meant = near_miss(name, known) or next(iter(slips_of(name, known)), None)
    if package.registry == "npm" and slash and name not in known and meant is not None:
        sink.report(
            RETIRED_PACKAGE,
            f"server `{server.name}` runs package `{package.name}`, a near miss of `{scope}/{meant}`",
            at=place_of_package(server, package),
            severity=Severity.WARNING,
            help=f"did you mean `{scope}/{meant}`?",
            subject=package.name,
        )


def _check_form(server: Server, sink: DiagnosticSink) -> None:
    """Report a name or a version in the form of one registry that a program gets which asks another one."""
    asked = requested(server.command, server.args) if server.command is not None else None
    if asked is None:
        return
    registry, spec = asked
    scoped, pinned = _SCOPED.match(spec), _PINNED.fullmatch(spec)
    if registry == "pypi" and scoped is not None:
        package = Package(registry="npm", name=scoped[0])
        what, instead = "which is a name of npm, and not of PyPI", f"npx -y {package.name}"
    elif registry == "npm" and pinned is not None:
        package = Package(registry="pypi", name=pinned["name"])
        what, instead = "whose version is in the form of PyPI: npm has no such name", f"uvx {spec}"
    else:
        return
    at, related = _places(server, package, is_of_other=True)
    sink.report(
        RETIRED_PACKAGE,
        f"server `{server.name}` runs package `{package.name}`, {what}",
        at=at,
        related=related,
        severity=Severity.ERROR,
        help=f"use `{instead}`",
        subject=package.name,
    )
