"""`octoc init`: write an octoc.toml for a folder, or a workspace from another system's export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from octoc.compiler.workspace.init import Inputs


@click.command
@click.argument("export", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--from",
    "source",
    type=click.Choice(["octopus"]),
    help="Make a workspace from EXPORT, a JSON file with the answers of this system's API.",
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    metavar="DIR",
    help="The folder. Default: this one.",
)
@click.option("--pin/--no-pin", default=None, help="Record the servers' tools now. Default: ask on a terminal.")
@click.pass_context
def command(ctx: click.Context, export: Path | None, source: str | None, workspace: Path, pin: bool | None) -> int:
    """Write an octoc.toml for this folder.

    It names the MCP files, agent folders and taps that octoc finds. With --from, octoc also writes tables of scopes,
    agents and servers from an export. Existing files are never overwritten.
    """
    if (export is None) != (source is None):
        raise click.UsageError("--from and EXPORT belong together: octoc init --from octopus EXPORT.json")
    folder = workspace.absolute()
    has_servers = _write_found(folder) if export is None else _write_migrated(folder, export)
    status = 0
    if has_servers:
        if pin is None:
            # Ask only on a terminal, because servers are started only with consent.
            pin = (
                sys.stdin.isatty()
                and sys.stderr.isatty()
                and click.confirm("start the servers and record their tools?", err=True)
            )
        if pin:
            from octoc.cli.commands.pin import command as pin_command

            status = ctx.invoke(pin_command, servers=(), dump=None, workspace=folder)
    first = "octoc build" if source is None else "octoc check, then octoc build"
    is_pinned = (pin and not status) or not has_servers
    click.echo(f"next: {first}" if is_pinned else f"next: octoc pin, then {first}")
    return status


def _write_found(folder: Path) -> bool:
    """Write octoc.toml for `folder`; return whether it names files that may have servers. Raises: UserError."""
    from octoc.cli.failures import UserError
    from octoc.compiler.structure.settings import name_of_folder
    from octoc.compiler.workspace.init import find_inputs, settings_document, write_settings

    try:
        inputs = find_inputs(folder)
        path = write_settings(folder, settings_document(name_of_folder(folder), inputs))
    except FileExistsError:
        raise _there_already("octoc.toml") from None
    except OSError as error:
        raise UserError(f"no `octoc.toml` can be made in `{folder.name}`: {error.strerror}") from None
    click.echo(f"wrote {path.name}")
    _say(inputs)
    return bool(inputs.mcp_files or inputs.taps)


def _write_migrated(folder: Path, export: Path) -> bool:
    """Write the workspace of an export; return whether it has servers. Raises: UserError, or ends with the findings."""
    from octoc.cli.failures import UserError
    from octoc.cli.report import print_diagnostics
    from octoc.compiler.migrate.octopus import migrate, read_octopus
    from octoc.compiler.migrate.surroundings import surroundings_of
    from octoc.compiler.migrate.write import write_new
    from octoc.diagnostics.render import escape

    values, found = read_octopus(folder, export)
    if found:
        print_diagnostics(found, folder, output_format="full", verbose=False, err=True)
    if values is None:
        click.echo("nothing was written", err=True)
        raise click.exceptions.Exit(1)
    try:
        migration = migrate(values, surroundings_of(folder))
        write_new(folder, migration.files)
    except FileExistsError as error:
        raise _there_already(str(error.filename)) from None
    except OSError as error:
        raise UserError(f"no workspace can be made in `{folder.name}`: {error.strerror}") from None
    for name in migration.files:
        click.echo(f"wrote {name}")
    for note in migration.notes:
        click.echo(f"note: {escape(note)}")
    return migration.has_servers


def _there_already(name: str) -> Exception:
    from octoc.cli.failures import UserError

    if name == "octoc.toml":
        return UserError("`octoc.toml` exists already and was not changed", "run `octoc check`")
    return UserError(
        f"`{name}` exists already, so nothing was written",
        "move it away, or make the workspace in another folder with --workspace",
    )


def _say(inputs: Inputs) -> None:
    from octoc.diagnostics.render import escape

    found = [
        *(("MCP file", name) for name in inputs.mcp_files),
        *(("agents", name) for name in inputs.agent_folders),
        *(("tap", path) for _, path in inputs.taps),
    ]
    for kind, name in found:
        click.echo(f"found {kind}: {escape(name)}")
    if not found:
        click.echo("found no MCP file, agents or tap here: see the comments in octoc.toml for how to name them")
