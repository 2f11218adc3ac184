"""Commands that plugins add to `octoc`."""

from __future__ import annotations

import re

import attrs

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_TARGET = re.compile(r"[\w.]+:\w+")


def _check_name(_: object, __: object, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"name `{name}`: expected lower-case letters, digits and `-`")


def _check_target(_: object, __: object, target: str) -> None:
    if not _TARGET.fullmatch(target):
        raise ValueError(f"target `{target}`: expected `module:attribute`")


@attrs.frozen(kw_only=True)
class CliCommand:
    """A command of `octoc`, imported when it is used.

    Args:
        summary: its line in `octoc --help`, which imports no command.
        target: `module:attribute` of a `click.Command`. What octoc's own commands are made of (options, errors, tables,
            the bundle to open) is in `octoc.cli.toolkit`.
    """

    name: str = attrs.field(validator=_check_name)
    summary: str
    target: str = attrs.field(validator=_check_target)
