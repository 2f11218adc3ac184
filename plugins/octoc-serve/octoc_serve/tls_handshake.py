"""A new connection during its TLS handshake. It counts as a connection without a request, and is closed like one.

uvicorn leaves the handshake to asyncio, which reports a connection only afterwards. Until then the connection would
hold an open file that nothing counts.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Any

from octoc_serve.connection_limits import BoundedProtocol

logger = logging.getLogger(__name__)


class Handshake(asyncio.Protocol):
    """Waits for the handshake, at most as long as for a request, then passes the connection to `protocol`."""

    def __init__(self, protocol: BoundedProtocol, context: ssl.SSLContext) -> None:
        self._protocol = protocol
        self._context = context
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the handshake. Beyond the limit, close another connection."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  # asyncio's stream transport
        self._transport = transport
        self._protocol.connections.add(self)  # type: ignore[arg-type]  # uvicorn only calls `shutdown`
        gone = self._protocol.shares.open(self)
        self._task = asyncio.get_running_loop().create_task(self._shake(transport))
        if gone is not None:
            gone.give_way()

    async def _shake(self, transport: asyncio.Transport) -> None:
        loop, protocol = asyncio.get_running_loop(), self._protocol
        try:
            secured = await loop.start_tls(
                transport, protocol, self._context, server_side=True, ssl_handshake_timeout=protocol.request_s
            )
        except OSError as error:  # ssl.SSLError is one
            logger.debug("a TLS handshake failed: %s", error)
            return
        finally:
            protocol.shares.close(self)
            protocol.connections.discard(self)
        if secured is not None and not secured.is_closing():
            protocol.connection_made(secured)

    def give_way(self) -> None:
        """Close the connection in favour of another one."""
        if self._transport is not None:
            self._transport.abort()

    def shutdown(self) -> None:
        """Close the connection because the gateway stops."""
        self.give_way()


def over_tls(protocol: type[BoundedProtocol], context: ssl.SSLContext) -> Callable[..., Handshake]:
    """Return a factory of connections that speak `protocol` over TLS."""

    def made(**named: Any) -> Handshake:
        return Handshake(protocol(**named), context)

    return made
