"""Transports to MCP servers on the official MCP SDK. Loading this module loads no SDK: the first connection does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from octoc.plugin import STANDARD, TransportKind, hookimpl
from octoc.plugin.toolkit import import_in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from octoc.plugin import Connection, Host, Login, ServerTarget, Transport

__all__ = ["McpTransport", "octoc_make_login", "octoc_make_transport", "octoc_transport_kinds"]

KINDS = ("stdio", "http", "sse")


@attrs.frozen
class McpTransport:
    """Connects to servers of one kind: `stdio`, `http` (Streamable HTTP) or `sse`."""

    kind: str

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        """Connect within `target.timeout_s`. Raises: ConnectFailedError, after stopping all that it started."""
        # The SDK takes about a second to load, which the other hooks of this plugin do not need.
        module = await import_in_thread("octoc_transport_mcp.connection")
        open_connection: Callable[[str, ServerTarget, Host | None], Awaitable[Connection]] = module.open_connection
        return await open_connection(self.kind, target, host)


@hookimpl
def octoc_transport_kinds() -> tuple[TransportKind, ...]:
    """Return `stdio`, `http` and `sse`."""
    return tuple(STANDARD[kind] for kind in KINDS)


@hookimpl
def octoc_make_transport(kind: str) -> Transport | None:
    """Return the transport for `kind`, or None if it is not one of `KINDS`."""
    return McpTransport(kind) if kind in KINDS else None


@hookimpl
def octoc_make_login(kind: str) -> Login | None:
    """Return the login to servers with a URL, or None for another kind."""
    if kind not in KINDS or not STANDARD[kind].has_logins:
        return None
    from octoc_transport_mcp.auth_login import McpLogin

    return McpLogin()
