"""What `octoc lock` asks registries: versions that the lock lacks, newer ones, or whether their files are the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs

from octoc.bundle.refusal import BundleError
from octoc.compiler.context import Progress, no_progress
from octoc.compiler.lock.content import ServerLock
from octoc.compiler.lock.packages import query_of
from octoc.compiler.lock.registries import RegistryError, Release, newest
from octoc.compiler.lock.text import NewerLockError, is_of_newer_revision, parse, text_of
from octoc.compiler.model.resolved import PackageVersion, Server
from octoc.compiler.pin.packages import package_of
from octoc.compiler.workspace.files import regular_bytes, write_if_changed
from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lock import PACKAGE_CHANGED

_AT_ONCE = 8


@attrs.define(kw_only=True)
class Answers:
    """What registries answered, by server: the versions and hashes to lock, and why others are not known."""

    versions: dict[str, PackageVersion] = attrs.field(factory=dict)
    failed: dict[str, str] = attrs.field(factory=dict)


def lockable(servers: Iterable[Server]) -> tuple[Server, ...]:
    """Return the servers that run a package of which a lock can have the version."""
    return tuple(one for one in servers if (known := one.package_version) is not None and (known.spec or known.version))


def ask(
    servers: Sequence[Server],
    upgrade: Collection[str],
    folder: Path,
    sink: DiagnosticSink,
    *,
    verify: bool,
    progress: Progress = no_progress,
) -> Answers:
    """Ask the registries of servers' packages.

    Args:
        servers: as `lockable` returns them.
        upgrade: names of servers whose packages get the newest version that their commands allow.
        verify: ask for all versions that are known, and not only for what the lock lacks.
    """
    asked = [one for one in servers if verify or one.name in upgrade or not _known(one).hashes]
    answers = Answers()

    def release(server: Server) -> Release | str:
        package = package_of(server.command or "", server.args)
        assert package is not None  # noqa: S101  # of `lockable`
        wanted, options = query_of(server, exact=server.name not in upgrade)
        try:
            return newest(package.registry, package.name, wanted, options, folder)
        except RegistryError as error:
            return str(error)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        releases = pool.map(release, asked)
        for number, server in enumerate(asked):
            progress(f"waiting for the registry of `{_known(server).name}`", number, len(asked))
            answer = next(releases)
            if isinstance(answer, str):
                answers.failed[server.name] = answer
            elif _is_same(server, answer, sink) or server.name in upgrade:
                known = _known(server)
                answers.versions[server.name] = attrs.evolve(known, version=answer.version, hashes=answer.hashes)
    return answers


def _known(server: Server) -> PackageVersion:
    assert server.package_version is not None  # noqa: S101  # of `lockable`
    return server.package_version


def _is_same(server: Server, release: Release, sink: DiagnosticSink) -> bool:
    """Report a locked file that its registry no longer has. A registry may add files to a version."""
    known = _known(server)
    if release.version != known.version or set(known.hashes) <= set(release.hashes):
        return True
    sink.report(
        PACKAGE_CHANGED,
        f"package `{known.name}` {known.version} of server `{server.name}` has other files in its registry than in "
        f"`{LOCK_FILE}`",
        at=server.place,
        help=f"find out who published it again; `octoc lock --upgrade {server.name}` takes what is there now",
    )
    return False


def write_versions(root: Path, versions: Mapping[str, PackageVersion]) -> bool:
    """Put versions into the lock, by server; return False if the lock cannot be read or written."""
    path = root / LOCK_FILE
    try:
        content = parse(regular_bytes(path).decode())
        if is_of_newer_revision(content):
            return False
        servers = dict(content.servers)
        for name, known in versions.items():
            before = servers.get(name, ServerLock(definition=""))  # the build that follows has its definition
            servers[name] = attrs.evolve(
                before, package=known.name, spec=known.spec, version=known.version, hashes=known.hashes
            )
        write_if_changed(path, text_of(attrs.evolve(content, servers=servers)).encode())
    except (OSError, UnicodeDecodeError, BundleError, NewerLockError):
        return False
    return True
