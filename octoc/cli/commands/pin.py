"""`octoc pin`: record what servers offer, so that a build knows their tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from octoc.cli.options import format_options, workspace_option

if TYPE_CHECKING:
    from octoc.compiler.model.resolved import Resolved, Server
    from octoc.compiler.pin import Pinned
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.plugin.manager import Plugins
    from octoc.results import ServerListing

_AT_ONCE = 4
"""How many servers are started at the same time."""


@attrs.frozen(kw_only=True)
class _Recorded:
    """A server that was pinned, and how many tools it has."""

    server: str
    tools: int
    pinned: Pinned


@click.command
@click.argument("servers", nargs=-1, metavar="[SERVER...]")
@click.option(
    "--from",
    "dump",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Take a recorded answer to tools/list instead of starting a server.",
)
@workspace_option
@format_options("full", "concise", "json")
def command(servers: tuple[str, ...], dump: Path | None, workspace: Path | None, output_format: str) -> int:
    """Record the tools of servers.

    Each SERVER, or every one, is started and asked, and its answer written to snapshots/. With --from nothing is
    started: FILE is recorded for SERVER, or for every server whose command runs the package that FILE is of. The exit
    status is 1 when a server could not be pinned.
    """
    from octoc.cli.report import exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    if dump is not None and len(servers) > 1:
        raise click.UsageError("with --from, name one server at most")
    root = workspace_root(workspace)
    from octoc.compiler.build import resolve_workspace
    from octoc.compiler.read.spans import SpanIndex
    from octoc.compiler.read.text import text_reader
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.diagnostics.rule import Severity

    resolved, found, plugins = resolve_workspace(root)
    if resolved is None or plugins is None:
        print_diagnostics(found, root, output_format="full", verbose=False, err=True)
        return 1
    errors = sum(diagnostic.severity >= Severity.ERROR for diagnostic in found)
    if errors:
        many = "1 error" if errors == 1 else f"{errors} errors"
        click.echo(f"the workspace has {many}, shown by `octoc check`", err=True)
    sink = DiagnosticSink(SpanIndex(text_reader(root)))
    if dump is None:
        if not servers and not _connectable(resolved.servers):
            click.echo("the workspace has no server that could be pinned", err=True)
        recorded = _pin_live(root, resolved, servers, plugins, sink)
    else:
        recorded = _pin_dump(root, resolved, servers[0] if servers else None, dump, sink)
    if output_format == "json":
        _print_json(recorded, sink, root)
    else:
        _print(recorded)
        if sink.diagnostics:
            print_diagnostics(sink.diagnostics, root, output_format=output_format, verbose=False, err=True)
    return exit_status(sink.diagnostics, "error")


def _pin_live(
    root: Path, resolved: Resolved, names: Sequence[str], plugins: Plugins, sink: DiagnosticSink
) -> list[_Recorded]:
    from octoc.cli.progress import ProgressLine
    from octoc.cli.running import run
    from octoc.compiler.packages import package_of
    from octoc.compiler.pin import named_servers, write_snapshot
    from octoc.diagnostics.rules.lock import PIN_FAILED

    chosen = named_servers(names, resolved.servers, sink) if names else _connectable(resolved.servers)
    with ProgressLine() as progress:
        listings = run(_listings(chosen, plugins, root, progress))
    recorded = []
    for server, listing in zip(chosen, listings, strict=True):
        if isinstance(listing, str):
            # The reason may have several lines: what a server wrote before it died.
            sink.report(
                PIN_FAILED,
                f"server `{server.name}` could not be pinned: {' '.join(listing.split())}",
                at=server.place,
                help=f"mend it, then run `octoc pin {server.name}`",
            )
            continue
        package = package_of(server.command, server.args) if server.command else None
        pinned = write_snapshot(root, server, listing, None if package is None else str(package), sink)
        if pinned is not None:
            recorded.append(_Recorded(server=server.name, tools=len(listing.tools), pinned=pinned))
    return recorded


def _connectable(servers: Sequence[Server]) -> tuple[Server, ...]:
    return tuple(server for server in servers if server.transport != "builtin")


async def _listings(
    servers: Sequence[Server], plugins: Plugins, root: Path, progress: Callable[[str, int, int], None]
) -> list[ServerListing | str]:
    from octoc.compiler.pin import pin_live

    free = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def one(server: Server) -> ServerListing | str:
        nonlocal done
        async with free:
            progress(f"asking {server.name}", done, len(servers))
            listing = await pin_live(server, plugins, root)
            done += 1
            progress(f"asked {server.name}", done, len(servers))
            return listing

    return await asyncio.gather(*map(one, servers))


def _pin_dump(root: Path, resolved: Resolved, name: str | None, dump: Path, sink: DiagnosticSink) -> list[_Recorded]:
    from octoc.compiler.pin import pin_targets_for_dump, write_snapshot
    from octoc.compiler.snapshots import load_dump
    from octoc.compiler.workspace import display_path
    from octoc.diagnostics.model import Place

    display = display_path(root, dump.absolute())
    loaded = load_dump(dump, display, resolved.sources.discovered.settings.limits, sink)
    if loaded is None:
        return []
    package = None if loaded.package is None else str(loaded.package)
    recorded = []
    for server in pin_targets_for_dump(loaded.package, resolved.servers, name, Place(file=display), sink):
        pinned = write_snapshot(root, server, loaded.listing, package, sink)
        if pinned is not None:
            recorded.append(_Recorded(server=server.name, tools=len(loaded.listing.tools), pinned=pinned))
    return recorded


def _print(recorded: Sequence[_Recorded]) -> None:
    from octoc.diagnostics.render import escape

    for one in recorded:
        count = "1 tool" if one.tools == 1 else f"{one.tools} tools"
        changes = len(one.pinned.changes)
        state = (
            "new" if one.pinned.is_new else f"{changes} change{'s' if changes > 1 else ''}" if changes else "unchanged"
        )
        click.echo(f"{escape(one.server)}: {count}, {state}")
        for change in one.pinned.changes:
            click.echo(f"  {escape(change)}")


def _print_json(recorded: Sequence[_Recorded], sink: DiagnosticSink, root: Path) -> None:
    import json

    from octoc.diagnostics.render import as_object

    servers = [
        {
            "name": one.server,
            "path": one.pinned.path.relative_to(root).as_posix(),
            "tools": one.tools,
            "new": one.pinned.is_new,
            "changes": list(one.pinned.changes),
        }
        for one in recorded
    ]
    diagnostics = [as_object(diagnostic) for diagnostic in sink.diagnostics]
    click.echo(json.dumps({"servers": servers, "diagnostics": diagnostics}, indent=2))
