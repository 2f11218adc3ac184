"""The group of all commands. It imports a command when that command is used, and plugins when it does not know one."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from octoc import __version__
from octoc.cli.commands import GROUPS, OWN_PLUGINS, PLUGIN_OF, SUMMARIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from octoc.plugin.commands import CliCommand


class Commands(click.Group):
    """A group that knows octoc's own commands by name, and asks installed plugins for all others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*SUMMARIES, *_plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in SUMMARIES and cmd_name not in PLUGIN_OF:
            # A plugin cannot take the name of a command of octoc's own, so none is asked: that would take longer.
            command = importlib.import_module(f"octoc.cli.commands.{cmd_name}").command
            return command if isinstance(command, click.Command) else None
        from octoc.cli.plugin_commands import command_of_plugin, load

        if cmd_name in PLUGIN_OF:
            return command_of_plugin(cmd_name)
        match = _plugin_commands().get(cmd_name)
        return None if match is None else load(match)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name.startswith("-") or name in SUMMARIES:
            return super().resolve_command(ctx, args)
        commands = _plugin_commands()
        if name in commands:
            from octoc.cli.plugin_commands import load

            return name, load(commands[name]), args[1:]
        from octoc.diagnostics.render.text import escape
        from octoc.diagnostics.suggest import did_you_mean

        names = [*SUMMARIES, *commands]
        hint = did_you_mean(name, names) or f"expected one of {', '.join(names)}"
        raise click.UsageError(f"there is no command `{escape(name)}`: {hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands and options that begin so, without importing a command."""
        from click.shell_completion import CompletionItem

        others = {name: command.summary for name, command in _plugin_commands().items()}
        names = {**SUMMARIES, **others}.items()
        commands = [CompletionItem(name, help=line) for name, line in names if name.startswith(incomplete)]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command's summary by group, without importing the command."""
        others = {name: command.summary for name, command in _plugin_commands().items()}
        for title, lines in {**GROUPS, "Commands of plugins": others}.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(list(lines.items()))


def _plugin_commands() -> Mapping[str, CliCommand]:
    """Return the commands of plugins that octoc does not ship, by name and sorted."""
    from importlib.metadata import entry_points

    if {point.name for point in entry_points(group="octoc")} <= OWN_PLUGINS:
        return {}
    from octoc.cli.plugin_commands import installed_commands

    return {name: command for name, command in sorted(installed_commands().items()) if name not in SUMMARIES}


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="octoc", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context) -> int:
    """Compile a declared fleet of agent tools into one locked file, and run from that file.

    Without a command, octoc says what it finds in this folder and what to run next.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from octoc.cli.overview import print_overview

    return print_overview()
