"""Agents of a bundle as an MCP server: `octoc serve`. Importing this module imports no SDK."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from octoc.plugin import CliCommand

__all__ = ["octoc_cli_commands"]


@hookimpl
def octoc_cli_commands() -> Iterable[CliCommand]:
    """Return `octoc serve`."""
    from octoc.plugin import CliCommand

    summary = "Serve an agent's tools to an MCP client."
    return (CliCommand(name="serve", summary=summary, target="octoc_serve.command:command"),)
