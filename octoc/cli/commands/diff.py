"""`octoc diff A B`: what changed between two records of servers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.failures import UnavailableError
from octoc.cli.options import format_options, workspace_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octoc.bundle.model import ServerDefinition
    from octoc.compiler.pin.live import Answer, LiveServers
    from octoc.pins.sides import Side

_LIVE = "live"


@click.command
@click.argument("old", metavar="A", required=False)
@click.argument("new", metavar="B", required=False)
@click.option(
    "--fail-on",
    type=click.Choice(["none", "wording", "widening", "breaking"]),
    default="none",
    show_default=True,
    help="Exit with 1 if there is a change of this class or a worse one.",
)
@workspace_option
@format_options("full", "concise", "markdown", "json")
def command(old: str | None, new: str | None, fail_on: str, workspace: Path | None, output_format: str) -> int:
    """Show what changed between two records of servers.

    A and B are each a bundle (FILE.octoc), a lock (octoc.lock), a folder with one, or a git revision of the workspace;
    B may be `live`: the servers of A as they are now. Each change is breaking, widening or wording. The exit status is
    2 if a side cannot be read or a server does not answer.

    `octoc diff HEAD octoc.lock` shows what your lock changes, `octoc diff served.octoc dist/new.octoc` what a roll-out
    of that bundle changes.
    """
    from octoc.cli.collector import rare_collections
    from octoc.cli.diff_report import rendered
    from octoc.pins.diff import diff
    from octoc.pins.rules import CLASSES

    if old is None or new is None:
        raise click.UsageError(
            "expected two records of servers, A and B, each a bundle, a lock, a folder with one, or a git revision: "
            "`octoc diff HEAD octoc.lock` shows what your lock changes, "
            "`octoc diff served.octoc dist/new.octoc` what a roll-out changes"
        )
    if old == _LIVE:
        raise click.UsageError("`live` is the second of the two")
    with rare_collections():
        before = _side(old, workspace)
        found = diff(*((before, _side(new, workspace)) if new != _LIVE else _with_live(before, old, workspace)))
        text = rendered(found, output_format)
    click.echo(text, nl=False)
    counts = [found.counts[kind] for kind in CLASSES]
    failing = {"none": 0, "breaking": 1, "widening": 2, "wording": 3}[fail_on]
    return int(any(counts[:failing]))


def _side(named: str, workspace: Path | None) -> Side:
    """Return the side that an argument names. Raises: UnavailableError."""
    path = Path(named)
    if path.suffix == ".octoc" or _is_bundle(path):
        from octoc.bundle.reader import OpenBundle
        from octoc.bundle.refusal import BundleFileError
        from octoc.pins.sides import side_of_bundle

        try:
            with OpenBundle.open(path) as opened:
                return side_of_bundle(opened, named)
        except BundleFileError as error:
            raise UnavailableError(error.reason, error.help) from None
    from octoc.cli.workspace import workspace_root
    from octoc.compiler.pin.sides import SideError, side_of_folder, side_of_lock, side_of_revision
    from octoc.compiler.workspace.git import RevisionError
    from octoc.compiler.workspace.paths import LOCK_FILE

    try:
        if path.is_dir():
            side, newer = side_of_folder(path, named)
            if newer:
                click.echo(
                    f"note: `{path / LOCK_FILE}` is older than {_snapshots(newer)}: a build locks them", err=True
                )
            return side
        if path.exists():
            return side_of_lock(path, named)
        return side_of_revision(workspace_root(workspace), named)
    except (SideError, RevisionError) as error:
        help_ = "name a bundle, a lock, a folder with a lock, or a commit, branch or tag"
        raise UnavailableError(str(error), help_) from None


def _snapshots(servers: Sequence[str]) -> str:
    from octoc.lists import some_names

    return f"the snapshot{'s' if len(servers) > 1 else ''} of {some_names(servers)}"


def _is_bundle(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(2) == b"PK"
    except OSError:
        return False


def _with_live(before: Side, named: str, workspace: Path | None) -> tuple[Side, Side]:
    """Return a side and its servers as they are now, both without those that octoc does not connect.

    Raises: UnavailableError.
    """
    import attrs

    from octoc.cli.progress import ProgressLine
    from octoc.cli.run_async import run
    from octoc.cli.server_failures import ServerFailure, next_step_of, print_failures
    from octoc.compiler.pin.record import NotPinned, passing
    from octoc.pins.sides import Record, records_of

    path = Path(named)
    is_bundle = path.suffix == ".octoc" or _is_bundle(path)
    asked = _servers_of_bundle(path, workspace) if is_bundle else _servers_of_workspace(workspace)
    servers: dict[str, dict[str, Record]] = {}
    failed: list[ServerFailure] = []

    def take(server: ServerDefinition, answer: Answer) -> None:
        if isinstance(answer, NotPinned):
            cause = " ".join(answer.reason.split())
            failed.append(ServerFailure(server=server.name, cause=cause, next_step=next_step_of(server, answer.needs)))
        else:
            servers[server.name] = records_of(passing(server, answer) if is_bundle else answer)

    known = [server for server in asked.servers if server.name in before.servers]
    with ProgressLine() as progress:
        run(attrs.evolve(asked, servers=known).ask(take, progress, {}))
    if failed:
        many = "1 server" if len(failed) == 1 else f"{len(failed)} servers"
        failed.sort(key=lambda one: one.server)
        print_failures(f"{many} did not answer", failed, err=True)
        raise UnavailableError("could not compare with live servers", "`octoc doctor` shows what servers need")
    kept = {name: before.servers[name] for name in servers}
    return attrs.evolve(before, servers=kept), attrs.evolve(before, name=_LIVE, servers=servers)


def _servers_of_bundle(path: Path, workspace: Path | None) -> LiveServers[ServerDefinition]:
    from octoc.bundle.reader import OpenBundle
    from octoc.compiler.pin.live import LiveServers, connectable
    from octoc.plugin.manager import load_plugins

    with OpenBundle.open(path) as opened:
        bundle = opened.bundle
    folder = workspace.absolute() if workspace is not None else (path.parent / bundle.workspace).resolve()
    return LiveServers(
        servers=connectable(bundle.servers),
        plugins=load_plugins(bundle.plugins),
        folder=folder,
        production=bundle.settings.mode == "production",
    )


def _servers_of_workspace(workspace: Path | None) -> LiveServers[ServerDefinition]:
    from octoc.cli.workspace import workspace_root
    from octoc.compiler.pin.live import LiveServers, connectable
    from octoc.compiler.workspace.build import resolve_workspace

    root = workspace_root(workspace)
    build, _, plugins = resolve_workspace(root)
    if build is None or plugins is None:
        raise UnavailableError("the workspace cannot be read", "run `octoc check`")
    return LiveServers(
        servers=connectable(build.resolved.servers),
        plugins=plugins,
        folder=root,
        production=build.settings.mode == "production",
    )
