"""An agent's surface as an MCP server. Loading this module loads no SDK: serving does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.plugin.hookspecs import hookimpl

if TYPE_CHECKING:
    from octoc.plugin.commands import CliCommand
    from octoc.plugin.gateway import Gateway, GatewaySettings, TokenFile

__all__ = ["McpGateway", "octoc_cli_commands", "octoc_make_gateway"]


@attrs.frozen
class McpGateway:
    """Serves over stdio and Streamable HTTP, in both eras of the protocol."""

    async def serve(self, settings: GatewaySettings) -> None:
        """Serve until the client leaves or a signal says so.

        Raises: GatewayRefused, BundleRefused, UnknownNameError (a LookupError) when the bundle has no such agent.
        """
        from octoc_serve.gateway import serve

        await serve(settings)

    def config(self, client: str, settings: GatewaySettings) -> str:
        """Return what to paste into a client's file, JSON. Raises: GatewayRefused, BundleRefused."""
        from octoc_serve.configs import config

        return config(client, settings)

    def tokens(self, file: Path | None, workspace: Path | None) -> TokenFile:
        """Return the tokens kept in `file`, or in the user's own. Raises: GatewayRefused."""
        from octoc_serve.tokens import Tokens

        return Tokens(file, workspace)


@hookimpl
def octoc_make_gateway() -> Gateway | None:
    """Return the gateway for MCP clients."""
    return McpGateway()


@hookimpl
def octoc_cli_commands() -> Iterable[CliCommand]:
    """Return `octoc serve`."""
    from octoc.plugin.commands import CliCommand

    summary = "Serve an agent's tools to an MCP client."
    return (CliCommand(name="serve", summary=summary, target="octoc_serve.command:command"),)
