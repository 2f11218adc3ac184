"""`octoc init`: an octoc.toml for what lies in a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from octoc.compiler.init import Inputs


@click.command
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    metavar="DIR",
    help="The folder. Default: this one.",
)
@click.option("--pin/--no-pin", default=None, help="Record the servers' tools now, or not. Default: ask on a terminal.")
@click.pass_context
def command(ctx: click.Context, workspace: Path, pin: bool | None) -> int:
    """Write an octoc.toml for what is here.

    It names the MCP files, agent folders and taps that are found. One that is there is never overwritten.
    """
    from octoc.cli.failures import UserError
    from octoc.compiler.init import find_inputs, settings_text, write_settings
    from octoc.compiler.structure.settings import name_of_folder

    folder = workspace.absolute()
    try:
        inputs = find_inputs(folder)
        path = write_settings(folder, settings_text(name_of_folder(folder), inputs))
    except FileExistsError:
        raise UserError("there is an `octoc.toml` already, and it is left as it is", "run `octoc check`") from None
    except OSError as error:
        raise UserError(f"no `octoc.toml` can be made in `{folder.name}`: {error.strerror}") from None
    click.echo(f"wrote {path.name}")
    _say(inputs)
    if inputs.mcp_files or inputs.taps:
        if pin is None:
            # Asked only where someone can answer: starting servers is never done unasked.
            pin = (
                sys.stdin.isatty()
                and sys.stderr.isatty()
                and click.confirm("start the servers and record their tools?", err=True)
            )
        if pin:
            from octoc.cli.commands.pin import command as pin_command

            status = ctx.invoke(pin_command, servers=(), dump=None, workspace=folder)
            if status:
                return int(status)
    click.echo("next: octoc build" if pin or inputs.is_empty else "next: octoc pin, then octoc build")
    return 0


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
        click.echo("found no MCP file, agents or tap here: octoc.toml says in comments how to name them")
