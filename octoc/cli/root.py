"""The group of all commands: each is a module of `octoc.cli.commands`, imported when it is asked for."""

from __future__ import annotations

import importlib

import click

from octoc import __version__

COMMANDS = (
    *(
        "init",
        "check",
        "build",
        "expand",
        "pin",
        "show",
        "scope",
        "test",
        "route",
        "find",
        "call",
        "serve",
        "auth",
        "env",
        "rules",
        "explain",
        "schema",
    ),
)
"""In the order in which one meets them."""


class Commands(click.Group):
    """A group that knows its commands by name and imports one when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"octoc.cli.commands.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            from octoc.diagnostics.render.text import escape
            from octoc.diagnostics.suggest import did_you_mean

            hint = did_you_mean(name, COMMANDS) or f"expected one of {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command `{escape(name)}`: {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="octoc", message="%(prog)s %(version)s")
def root() -> None:
    """Compile a declared fleet of agent tools into one locked file, and run from that file."""
