"""A page for each command of `octoc`, from the command itself: usage, help, arguments and options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from docs_site.page import Page, plain, table
from octoc.cli.commands import GROUPS
from octoc.cli.root import root

_FOLDER = "reference/commands"


def command_pages() -> Iterator[Page]:
    """Yield the overview of commands, and one page each.

    Raises: LookupError when a command's plugin is not installed.
    """
    yield Page(f"{_FOLDER}/index.md", _overview())
    parent = click.Context(root, info_name="octoc", **root.context_settings)
    for name in (name for commands in GROUPS.values() for name in commands):
        command = root.get_command(parent, name)
        if command is None:
            raise LookupError(f"the command `{name}` is not installed")
        context = click.Context(command, info_name=name, parent=parent)
        yield Page(f"{_FOLDER}/{name}.md", "\n".join(_sections(command, context, level=1)))


def _overview() -> str:
    parts = [
        "# Commands\n",
        "Every command of `octoc`, made from the program itself. `octoc COMMAND --help` prints the same.\n",
    ]
    for title, commands in GROUPS.items():
        rows = [(f"[`octoc {name}`]({name}.md)", plain(line)) for name, line in commands.items()]
        parts += [f"## {title}\n", table(("command", "what it does"), rows)]
    statuses = [
        ("0", "done; nothing is wrong"),
        ("1", "octoc found an error in your files, or what was asked for failed"),
        ("2", "the command line is wrong, or a package or a file that it needs is missing"),
    ]
    parts += ["## Exit status\n", table(("status", "meaning"), statuses)]
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    """Yield the parts of a command's page, and those of the commands below it."""
    yield f"{'#' * level} {context.command_path}\n"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```\n"
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        yield f"{_paragraph(paragraph)}\n"
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    rows = [record for one in options if (record := one.get_help_record(context)) is not None]
    yield table(("option", "what it does"), [(f"`{flag}`", plain(line)) for flag, line in rows])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _sections(below, click.Context(below, info_name=name, parent=context), level + 1)


def _paragraph(text: str) -> str:
    """Return a paragraph of help as Markdown; click keeps the lines of one that begins with a backspace."""
    if text.startswith("\b"):
        return f"```text\n{text.removeprefix(chr(8)).strip()}\n```"
    return plain(text)
