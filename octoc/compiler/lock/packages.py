"""Versions of packages that the lock decides: commands that name no exact version run the locked one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from octoc.compiler.context import Context
from octoc.compiler.model.resolved import PackageVersion, Server
from octoc.compiler.pin.packages import Package, package_of
from octoc.compiler.workspace.files import bytes_if_any
from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.diagnostics.rules.lock import NOT_IN_LOCK
from octoc.toml_limits import parse

REGISTRIES = frozenset({"npm", "pypi"})
"""The registries of which a lock can have versions and hashes."""
_HAS_VERSIONS = re.compile(rb"^version = \"", re.MULTILINE)
_BY_REQUIREMENT = ("--from", "--spec")
"""Options whose value is a requirement of pip, with `==` before a version."""
_WORD = re.compile(
    r"(?P<option>(?:--from|--spec|--package|-p)=)?(?P<name>(?:@[A-Za-z0-9._~-]+/)?[A-Za-z0-9_~][A-Za-z0-9._~-]*)"
    r"(?P<extras>\[[^\]]*\])?(?P<range>\s*[@<>=!~].*)?\Z"
)


def with_locked_versions(servers: Iterable[Server], context: Context) -> tuple[Server, ...]:
    """Return the servers with the versions and hashes of their packages, as far as they are known.

    A version that the command fixes is known without a lock. Any other is the lock's, while the command names the
    package in the same words; it is put into the arguments. With `context.frozen` a version that is not known is an
    error.
    """
    found = tuple(servers)
    locked = _locked(context) if any(server.package for server in found) else {}
    return tuple(_with_version(server, locked.get(server.name), context) for server in found)


def _locked(context: Context) -> Mapping[str, PackageVersion]:
    """Return what the lock says of packages, by server. The stage of the lock reports one that cannot be read."""
    data = bytes_if_any(context.root / LOCK_FILE) or b""
    if not _HAS_VERSIONS.search(data):
        return {}
    try:
        tables = parse(data.decode()).get("servers")
    except ValueError:
        return {}
    found = {}
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        if isinstance(table, Mapping) and isinstance(hashes := table.get("hashes", []), list):
            texts = [str(table.get(key, "")) for key in ("package", "spec", "version")]
            found[name] = PackageVersion(texts[0], texts[1], texts[2], tuple(map(str, hashes)))
    return found


def _with_version(server: Server, locked: PackageVersion | None, context: Context) -> Server:
    package = None if server.command is None else package_of(server.command, server.args)
    if package is None or package.registry not in REGISTRIES:
        return server
    if package.is_fixed:
        known = PackageVersion(package.name, "", package.version or "", ())
    else:
        at = spec_at(server.command or "", server.args, package)
        known = PackageVersion(package.name, "" if at is None else server.args[at], "", ())
    if locked is not None and (locked.name, locked.spec) == (known.name, known.spec):
        if not known.version:
            server = _with_argument(server, package, locked.version)
            known = locked
        elif known.version == locked.version:
            known = locked
    if context.frozen and not known.version:
        context.sink.report(
            NOT_IN_LOCK,
            f"server `{server.name}` runs any version of package `{package.name}`, and `{LOCK_FILE}` has none",
            at=server.place,
            help="run `octoc lock`, and commit the lock, or write the version in the command",
        )
    return attrs.evolve(server, package_version=known)


def _with_argument(server: Server, package: Package, version: str) -> Server:
    at = spec_at(server.command or "", server.args, package)
    if at is None or not version:
        return server
    word = _fixed(server.args, at, package, version)
    return attrs.evolve(server, args=(*server.args[:at], word, *server.args[at + 1 :]))


def spec_at(command: str, args: Sequence[str], package: Package) -> int | None:
    """Return which argument names the package; None if no version can be written there, as inside of `sh -c`."""
    version = "1.2.3"
    wanted = attrs.evolve(package, version=version)
    for at in range(len(args)):
        word = _fixed(args, at, package, version)
        if word and package_of(command, (*args[:at], word, *args[at + 1 :])) == wanted:
            return at
    return None


def _fixed(args: Sequence[str], at: int, package: Package, version: str) -> str:
    """Return an argument that names the package with a version; empty if it cannot."""
    match = _WORD.match(args[at])
    if match is None or match["name"] != package.name:
        return ""
    option, extras = match["option"] or "", match["extras"] or ""
    is_requirement = (option.rstrip("=") or (args[at - 1] if at else "")) in _BY_REQUIREMENT
    if extras and not is_requirement:
        return ""  # few launchers take extras and a version without an option
    return f"{option}{package.name}{extras}{'==' if is_requirement else '@'}{version}"


def query_of(server: Server, *, exact: bool) -> tuple[str, tuple[str, ...]]:
    """Return what to ask a registry for the package of a server, and the options of its command that name registries.

    Args:
        exact: ask for the version that is known, if one is, and not for the newest that the command allows.
    """
    known = server.package_version
    assert known is not None  # noqa: S101  # the caller has looked
    args = server.args
    options = tuple(
        word
        for at in range(len(args))
        for word in ((args[at], args[at + 1]) if args[at] in _INDEXES and at + 1 < len(args) else ())
    )
    options += tuple(word for word in args if word.partition("=")[0] in _INDEXES and "=" in word)
    match = _WORD.match(known.spec)
    written = "" if match is None else (match["range"] or "").strip()
    if exact and known.version:
        return known.version, options
    return "" if written in ("@latest", "@*") else written, options


_INDEXES = frozenset(
    {"--registry", "--index", "--index-url", "-i", "--default-index", "--extra-index-url", "--find-links", "-f"}
)
