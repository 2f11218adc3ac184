"""Commands by the hook `octoc_cli_commands`: those of plugins, and octoc's own by the same hook."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable, Mapping

import click

from octoc.cli.commands import PLUGIN_OF, SUMMARIES
from octoc.cli.failures import UnavailableError, missing_package, plugin_broken, plugin_missing
from octoc.plain_text import because
from octoc.plugin.commands import CliCommand
from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.manager import Plugins, load_plugins

logger = logging.getLogger(__name__)


class CoreCommands:
    """octoc's own commands."""

    @hookimpl
    def octoc_cli_commands(self) -> Iterable[CliCommand]:
        return [
            CliCommand(name=name, summary=summary, target=f"octoc.cli.commands.{name}:command")
            for name, summary in SUMMARIES.items()
            if name not in PLUGIN_OF
        ]


def installed_commands() -> Mapping[str, CliCommand]:
    """Return the commands of octoc and of every installed plugin, by name. A second command of a name is left out."""
    commands: dict[str, CliCommand] = {}
    for command in Plugins(names=None, objects=[CoreCommands()]).cli_commands():
        if commands.setdefault(command.name, command) is not command:
            logger.warning("the command `%s` of `%s` is left out: the name is taken", command.name, command.target)
    return commands


def command_of_plugin(name: str) -> click.Command:
    """Return a command that one of octoc's own plugins brings; without the plugin, one that says what installs it."""
    plugin = PLUGIN_OF[name]
    plugins = load_plugins([plugin])
    command = next((one for one in plugins.cli_commands() if one.name == name), None)
    if command is not None:
        return load(command)
    broken = plugins.broken.get(plugin)
    return _unavailable(name, plugin_missing(plugin) if broken is None else plugin_broken(plugin, broken))


def load(command: CliCommand) -> click.Command:
    """Import a command; if that fails, return one that reports why."""
    module, _, attribute = command.target.partition(":")
    try:
        loaded = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # noqa: BLE001  # an import can raise anything
        failed = UnavailableError(f"the command `{command.name}` cannot be imported{because(error)}")
        return _unavailable(command.name, missing_package(error) or failed)
    if isinstance(loaded, click.Command):
        return loaded
    return _unavailable(command.name, UnavailableError(f"`{command.target}` is not a command of click"))


def _unavailable(name: str, error: click.ClickException) -> click.Command:
    """Return a command that takes any arguments and raises `error`."""

    def report(**_: object) -> int:
        raise error

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=report, add_help_option=False, context_settings=settings)
