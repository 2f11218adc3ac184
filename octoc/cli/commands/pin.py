"""`octoc pin`: record the tools and other offers of servers for the build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from octoc.cli.options import completes, format_options, no_cache_option, workspace_option
from octoc.lists import name_list

if TYPE_CHECKING:
    from octoc.cli.server_failures import ServerFailure
    from octoc.compiler.model.build import Build
    from octoc.compiler.model.resolved import Server
    from octoc.compiler.pin.record import NotPinned, Pinned
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.plugin.manager import Plugins
    from octoc.results import ServerListing


@attrs.frozen(kw_only=True)
class _Recorded:
    """A server that was pinned, and what it offers."""

    server: str
    listing: ServerListing
    pinned: Pinned

    @property
    def counts(self) -> dict[str, int]:
        """The number of its tools, and of each kind of offer that it has."""
        kinds: Counter[str] = Counter(offer.kind for offer in self.listing.offers)
        return {"tool": len(self.listing.tools), **kinds}


@click.command
@click.argument("servers", nargs=-1, metavar="[SERVER...]", shell_complete=completes("servers"))
@click.option(
    "--from",
    "dump",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Read a recorded answer to tools/list instead of starting a server.",
)
@click.option("--strict", is_flag=True, help="Also fail when a server lacks variables.")
@click.option("--check", "checks", is_flag=True, help="Only compare the servers with their snapshots.")
@click.option(
    "--approve",
    "approvals",
    multiple=True,
    metavar="SERVER[/TOOL]",
    help="Show what changed of a server or a tool, ask, and record it. May be repeated.",
)
@click.option("--yes", is_flag=True, help="Start commands, and record changes of --approve, without a question.")
@workspace_option
@no_cache_option
@format_options("full", "concise", "json")
def command(
    servers: tuple[str, ...],
    dump: Path | None,
    workspace: Path | None,
    output_format: str,
    *,
    strict: bool,
    checks: bool,
    approvals: tuple[str, ...],
    yes: bool,
    no_cache: bool,
) -> int:
    """Record the tools of servers.

    octoc starts each SERVER, or every server, asks for its tools, and writes each answer to snapshots/ at once. Before
    it first starts a command line of a workspace it asks; without a terminal it starts only those that you approved.
    With --from no server is started: FILE is recorded for SERVER, or for every server whose command runs the package
    of FILE. The exit status is 1 if a server could not be pinned, and 2 if the workspace cannot be read. A server that
    only lacks variables is listed; with --strict it fails the command.

    --check writes nothing and shows what changed since the servers were recorded. The exit status is then 0 if nothing
    did, 1 if something did, and 2 if a server did not answer. A server that only lacks variables is listed, and counts
    with --strict, or if no other was compared.
    """
    from octoc.cli.report import exit_status, print_diagnostics
    from octoc.cli.workspace import workspace_root

    if dump is not None and len(servers) > 1:
        raise click.UsageError("with --from, name at most one server")
    if (dump is not None) + checks + bool(approvals) > 1 or (approvals and servers):
        raise click.UsageError("--from, --check and --approve exclude each other; --approve names the servers itself")
    root = workspace_root(workspace)
    from octoc.cli.fetched_taps import fetch_taps_of
    from octoc.compiler.read.spans import SpanIndex
    from octoc.compiler.read.text import text_reader
    from octoc.compiler.workspace.build import resolve_workspace
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.diagnostics.render import escape
    from octoc.diagnostics.rule import Severity

    fetch_taps_of(root)
    spans = SpanIndex(text_reader(root))
    build, found, plugins = resolve_workspace(root, use_cache=not no_cache, spans=spans)
    if build is None or plugins is None:
        print_diagnostics(found, root, output_format="full", verbose=False, err=True)
        return 2
    errors = sum(diagnostic.severity >= Severity.ERROR for diagnostic in found)
    if errors:
        many = "1 error" if errors == 1 else f"{errors} errors"
        click.echo(f"the workspace has {many}, shown by `octoc check`", err=True)
    sink = DiagnosticSink(spans)
    words = " ".join(("octoc pin", *(["--check"] * checks), *(f"--approve {escape(one)}" for one in approvals)))
    if dump is None:
        from octoc.compiler.pin.live import connectable

        if not servers and not connectable(build.resolved.servers):
            click.echo("the workspace has no server to pin", err=True)
        pinning = _Pinning(
            root=root, plugins=plugins, sink=sink, strict=strict, words=words, is_held=checks or bool(approvals)
        )
        names = servers or tuple(dict.fromkeys(name.partition("/")[0] for name in approvals))
        interrupted = _pin_live(build, names, pinning, yes=yes)
        if checks:
            return _checked(pinning, output_format)
        for name in approvals:
            _approve(pinning, name, yes=yes)
        recorded, failures = pinning.recorded, pinning.failures
    else:
        interrupted, failures = False, []
        recorded = _pin_dump(root, build, servers[0] if servers else None, dump, sink)
    if output_format == "json":
        _print_json(recorded, sink, root)
    else:
        _print(recorded)
        _print_next_step(recorded, is_approved=bool(approvals))
        _print_problems(sink, failures, root, output_format, words, has_others=bool(recorded))
    if interrupted:
        raise click.exceptions.Abort
    return exit_status(sink.diagnostics, "error")


def _again(words: str, server: str) -> str:
    """Return the command that asks one server again; --approve names its servers itself."""
    return words if "--approve" in words else f"{words} {server}"


@attrs.define(kw_only=True)
class _Pinning:
    """Writes the answers of servers as they come in; with `is_held` it only collects them in `answers`.

    `words` is the command as the user wrote it, for next steps.
    """

    root: Path
    plugins: Plugins
    sink: DiagnosticSink
    strict: bool
    words: str
    is_held: bool = False
    recorded: list[_Recorded] = attrs.field(factory=list)
    answers: dict[str, tuple[Server, ServerListing]] = attrs.field(factory=dict)
    failures: list[ServerFailure] = attrs.field(factory=list)

    def take(self, server: Server, answer: ServerListing | NotPinned) -> None:
        """Write the snapshot of a server, or report why it has none."""
        from octoc.cli.server_failures import ServerFailure, next_step_of
        from octoc.compiler.pin.record import NotPinned
        from octoc.diagnostics.rule import Severity
        from octoc.diagnostics.rules.lock import PIN_FAILED
        from octoc.names import BUILTIN

        if isinstance(answer, NotPinned):
            lacks_only = bool(answer.needs) and not self.strict
            # The reason may have several lines: what a server wrote before it died.
            failure = ServerFailure(
                server=server.name,
                cause=" ".join(answer.reason.split()),
                next_step=next_step_of(server, answer.needs),
            )
            self.failures.append(failure)
            again = _again(self.words, server.name)
            self.sink.report(
                PIN_FAILED,
                f"server `{server.name}` could not be pinned: {failure.cause}",
                at=server.place,
                help=failure.next_step if server.transport == BUILTIN else f"{failure.next_step}, then run `{again}`",
                severity=Severity.WARNING if lacks_only else None,
            )
        elif self.is_held:
            self.answers[server.name] = (server, answer)
        else:
            self.write(server, answer)

    def write(self, server: Server, answer: ServerListing) -> None:
        """Write the snapshot of a server."""
        from octoc.compiler.pin.packages import package_of
        from octoc.compiler.pin.record import write_snapshot

        package = package_of(server.command, server.args) if server.command else None
        pinned = write_snapshot(self.root, server, answer, None if package is None else str(package), self.sink)
        if pinned is not None:
            self.recorded.append(_Recorded(server=server.name, listing=answer, pinned=pinned))


def _checked(pinning: _Pinning, output_format: str) -> int:
    """Show what changed since servers were recorded, and return the exit status."""
    from octoc.cli.diff_report import rendered
    from octoc.cli.pin_review import live_diff
    from octoc.compiler.pin.record import recorded_listing
    from octoc.diagnostics.rule import Severity

    root = pinning.root
    answers = pinning.answers.values()
    found = live_diff(root, [(server, recorded_listing(root, server.name), one) for server, one in answers])
    if pinning.answers or output_format == "json":
        click.echo(rendered(found, output_format), nl=False)
    if pinning.failures:
        compared = len(pinning.answers)
        many = f"{compared} server{'' if compared == 1 else 's'} compared, {len(pinning.failures)} not"
        click.echo(many, err=output_format == "json")
    _print_problems(pinning.sink, pinning.failures, root, "full", pinning.words, has_others=bool(pinning.answers))
    if any(one.severity >= Severity.ERROR for one in pinning.sink.diagnostics):
        return 2
    return 2 if pinning.failures and not pinning.answers else int(bool(found))


def _print_problems(
    sink: DiagnosticSink,
    failures: Sequence[ServerFailure],
    root: Path,
    output_format: str,
    words: str,
    *,
    has_others: bool,
) -> None:
    """Print the findings on stderr; servers that failed as one table, if there are several and people read it."""
    from octoc.cli.report import columns_of, print_diagnostics
    from octoc.cli.server_failures import print_failures
    from octoc.diagnostics.render import escape, wrapped
    from octoc.diagnostics.rules.lock import COMMAND_NOT_APPROVED, PIN_FAILED

    found = sink.diagnostics
    if len(failures) > 1 and output_format == "full":
        others = "the others work without them; " if has_others else ""
        print_failures(f"{len(failures)} servers could not be pinned", failures, err=True)
        again = _again(words, failures[0].server)
        hint = escape(f"{others}`{again}` tries one again, and shows where it is defined")
        click.echo("\n".join(wrapped(hint, columns_of(err=True), indent=2)), err=True)
        found = tuple(one for one in found if one.rule not in {PIN_FAILED, COMMAND_NOT_APPROVED})
    if found:
        print_diagnostics(found, root, output_format=output_format, verbose=False, err=True)


def _approve(pinning: _Pinning, named: str, *, yes: bool) -> None:
    """Show what changed of a server or one of its tools, and record it if the user approves it."""
    from octoc.cli.pin_review import accepted
    from octoc.compiler.pin.record import recorded_listing
    from octoc.diagnostics.rules.lock import PIN_NOT_APPROVED

    name, _, tool = named.partition("/")
    if name not in pinning.answers:
        return  # the reason was reported
    server, answer = pinning.answers[name]
    before = recorded_listing(pinning.root, name)
    listing, is_same = accepted(pinning.root, server, before, answer, tool, yes=yes)
    if listing is not None:
        pinning.write(server, listing)
    elif is_same and not tool and before is not None:
        pinning.write(server, answer)  # its definition may have changed, such as the version on the command line
    elif not is_same:
        pinning.sink.report(
            PIN_NOT_APPROVED,
            f"the change of `{named}` is not recorded, as it was not approved",
            at=server.place,
            help=f"run `octoc pin --approve {named}` in a terminal, or add `--yes` after you read the change",
        )


def _pin_live(build: Build, names: Sequence[str], pinning: _Pinning, *, yes: bool) -> bool:
    """Ask the servers and write their answers; return whether the user interrupted it."""
    from octoc.cli.pin_review import approved, shown_command
    from octoc.cli.progress import ProgressLine
    from octoc.cli.run_async import run
    from octoc.cli.server_failures import ServerFailure
    from octoc.compiler.pin.live import LiveServers, connectable
    from octoc.compiler.pin.record import named_servers

    servers = build.resolved.servers
    chosen = named_servers(names, servers, pinning.sink) if names else connectable(servers)
    _require_transport(chosen, pinning.plugins)
    wanted = chosen
    chosen = approved(pinning.root, wanted, pinning.sink, words=pinning.words, yes=yes)
    for server in wanted:
        if server not in chosen:
            cause = f"its command is not approved: `{shown_command(server)}`"
            step = f"run `{pinning.words}` in a terminal, or `{pinning.words} --yes`"
            pinning.failures.append(ServerFailure(server=server.name, cause=cause, next_step=step))
    production = build.settings.mode == "production"
    live = LiveServers(servers=chosen, plugins=pinning.plugins, folder=pinning.root, production=production)
    interrupted = False
    waiting: dict[str, float] = {}
    try:
        with ProgressLine() as progress:
            run(live.ask(pinning.take, progress, waiting))
    except (KeyboardInterrupt, click.exceptions.Abort):
        interrupted = True
        click.echo(f"stopped while waiting for {name_list(waiting)}; the answers of the others are kept", err=True)
    order = {server.name: index for index, server in enumerate(wanted)}
    pinning.failures.sort(key=lambda one: order[one.server])
    pinning.recorded.sort(key=lambda one: order[one.server])
    return interrupted


def _require_transport(servers: Sequence[Server], plugins: Plugins) -> None:
    """Raise the error that a plugin is missing if none of the servers can be connected without it."""
    from octoc.cli.failures import plugin_missing
    from octoc.plugin.transports import transport_kind

    plugins.versions()  # looks for the plugins
    needed = {transport_kind(plugins, server.transport).plugin for server in servers}
    lacking = sorted(name for name in plugins.missing if name in needed)
    if lacking and len(lacking) == len(needed):
        raise plugin_missing(lacking[0])


def _pin_dump(root: Path, build: Build, name: str | None, dump: Path, sink: DiagnosticSink) -> list[_Recorded]:
    from octoc.compiler.pin.record import pin_targets_for_dump, write_snapshot
    from octoc.compiler.pin.snapshots import load_dump
    from octoc.compiler.workspace.paths import display_path
    from octoc.diagnostics.model import Place

    display = display_path(root, dump.absolute())
    loaded = load_dump(dump, display, build.settings.limits, sink)
    if loaded is None:
        return []
    package = None if loaded.package is None else str(loaded.package)
    recorded = []
    for server in pin_targets_for_dump(loaded.package, build.resolved.servers, name, Place(file=display), sink):
        pinned = write_snapshot(root, server, loaded.listing, package, sink)
        if pinned is not None:
            recorded.append(_Recorded(server=server.name, listing=loaded.listing, pinned=pinned))
    return recorded


def _print(recorded: Sequence[_Recorded]) -> None:
    from octoc.cli.diff_report import left_out_line
    from octoc.diagnostics.render import escape

    for one in recorded:
        counts = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in one.counts.items())
        changes = len(one.pinned.changes)
        state = (
            "new" if one.pinned.is_new else f"{changes} change{'s' if changes > 1 else ''}" if changes else "unchanged"
        )
        click.echo(f"{escape(one.server)}: {counts}, {state}")
        for change in one.pinned.changes:
            click.echo(f"  {escape(str(change))}")
        if one.pinned.left_out:
            click.echo(f"  {left_out_line(one.pinned.left_out)}")


def _print_next_step(recorded: Sequence[_Recorded], *, is_approved: bool) -> None:
    """Say what follows once tools were recorded that differ from the lock."""
    if is_approved and recorded:
        click.echo("next: `octoc build`, which takes the approved tools into octoc.lock and the bundle", err=True)
    elif any(one.pinned.changes for one in recorded):
        click.echo("review the changes before a build: `git diff snapshots` shows them in full", err=True)


def _print_json(recorded: Sequence[_Recorded], sink: DiagnosticSink, root: Path) -> None:
    import json

    from octoc.diagnostics.render import as_object
    from octoc.pins.parts import change_objects

    servers = [
        {
            "name": one.server,
            "path": one.pinned.path.relative_to(root).as_posix(),
            **{f"{kind}s": count for kind, count in one.counts.items()},
            "new": one.pinned.is_new,
            "changes": change_objects(one.pinned.changes),
            "left_out": [*one.pinned.left_out],
        }
        for one in recorded
    ]
    diagnostics = [as_object(diagnostic) for diagnostic in sink.diagnostics]
    click.echo(json.dumps({"servers": servers, "diagnostics": diagnostics}, indent=2))
