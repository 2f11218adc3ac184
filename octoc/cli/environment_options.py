"""The options that describe an environment, and how they are read: names only, never a value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.failures import UnavailableError

if TYPE_CHECKING:
    from octoc.compiler.workspace.environment import Environment

Command = Callable[..., int]


def environment_options(function: Command) -> Command:
    """Add `--env-file` and `--env`, both repeatable, as `env_files` and `env_names`."""
    files = click.option(
        "--env-file",
        "env_files",
        type=click.Path(path_type=Path, dir_okay=False),
        multiple=True,
        metavar="FILE",
        help="A .env file that the bundle will run with. Only its names are used. Repeatable.",
    )
    names = click.option(
        "--env",
        "env_names",
        multiple=True,
        metavar="NAME",
        callback=_bare_names,
        help="A variable that is set where the bundle will run. Repeatable.",
    )
    return files(names(function))


def environment_of(files: tuple[Path, ...], names: tuple[str, ...]) -> Environment | None:
    """Return what the options say the environment has; None without any. Raises: UnavailableError, exit status 2."""
    if not files and not names:
        return None
    from octoc.compiler.workspace.environment import EnvironmentUnreadableError, read_environment

    try:
        return read_environment(files, names)
    except EnvironmentUnreadableError as error:
        raise UnavailableError(str(error), "--env-file names a file of `NAME=value` lines") from None


def _bare_names(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    # The message does not repeat the text: after a `=` it has a value.
    if any("=" in name or not name.strip() for name in given):
        raise click.BadParameter("expected only the name of a variable, without `=` and value", ctx, parameter)
    return given
