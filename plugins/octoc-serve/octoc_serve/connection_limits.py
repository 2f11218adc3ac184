"""Limits on the time and bytes of one connection, and on the number of connections.

uvicorn limits idle connections and the bytes of an incomplete head. This module limits the rest: a request that does
not arrive, an answer that the client does not read, and the number of connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from octoc_serve.connection_shares import EXTRA, ConnectionShares

if TYPE_CHECKING:
    from octoc_serve.settings import GatewaySettings

logger = logging.getLogger(__name__)

CONNECTION = "octoc.connection"
"""Key of the request's `BoundedProtocol` in the ASGI scope."""

_OTHER_FILES = 128
"""Open files reserved for backends and the bundle, which would all fail if connections took every file."""
MAX_AHEAD_BYTES = 64 * 1024
"""Maximum bytes of pipelined requests that uvicorn buffers."""
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n"


class Closable(Protocol):
    """A connection that can be closed in favour of another one."""

    def give_way(self) -> None:
        """Close it."""
        ...


def protocol_of(settings: GatewaySettings, shared: Callable[[], bool] = lambda: False) -> type[BoundedProtocol]:
    """Return the protocol class for uvicorn's `http` with these limits; `shared` says whether accounts share them."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = settings.max_connections
    if files != resource.RLIM_INFINITY and files - _OTHER_FILES - EXTRA < limit:
        limit = max(1, files - _OTHER_FILES - EXTRA)
        logger.warning("at most %d connections: `ulimit -n` lets this process open %d files", limit, files)

    class Bounded(BoundedProtocol):
        request_s = settings.request_s
        write_s = settings.write_s
        shares = ConnectionShares[Closable](limit, shared)

    return Bounded


class BoundedProtocol(H11Protocol):
    """One connection. Every wait for its client has a time limit."""

    request_s: ClassVar[float]
    write_s: ClassVar[float]
    shares: ClassVar[ConnectionShares[Closable]]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._begun = False
        self._early = b""
        app = self.app

        async def linked(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, CONNECTION: self}, receive, send)

        self.app = linked
        self._arriving: asyncio.TimerHandle | None = None
        self._leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start to wait for a request. Beyond the limit, close another connection."""
        super().connection_made(transport)
        self._begun = True
        opened = transport.get_extra_info("socket")
        if opened is not None:
            with contextlib.suppress(OSError):
                # A client whose machine is gone closes nothing; without this, a notification stream would wait forever.
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        gone = self.shares.open(self)
        if gone is not None:
            gone.give_way()
        if gone is not self:
            self._arriving = self._after(self.request_s, self._too_slow)
        if self._early:
            self.data_received(self._early)

    def serve(self, account: str) -> bool:
        """Count a request of an account as admitted; return False if the account has to wait."""
        return self.shares.serve(self, account)

    def give_way(self) -> None:
        """Close the connection, on which no admitted request runs, in favour of another one."""
        logger.info("all connections are taken: one without a request is closed")
        if self.conn.our_state is h11.IDLE and self.conn.their_state is h11.IDLE:
            self._end_with(_FULL)
        else:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes, and wait for the rest of the request within its time limit."""
        if not self._begun:
            self._early += data  # bytes that arrived with the end of the TLS handshake
            return
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.our_state is not h11.IDLE:
            self.shares.refresh(self)
        self._watch_arrival()
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > MAX_AHEAD_BYTES:
            logger.info("a client sends requests ahead of their answers: its connection is closed")
            self.transport.abort()
        self._watch_close()

    def on_response_complete(self) -> None:
        """Continue with the next request, which may have arrived in part."""
        self.shares.rest(self)
        super().on_response_complete()
        self._watch_arrival()
        self._watch_close()

    def pause_writing(self) -> None:
        """Start to wait until the client reads."""
        super().pause_writing()
        if self._leaving is None:
            self._leaving = self._after(self.write_s, self._unread)

    def resume_writing(self) -> None:
        """Stop waiting: the client reads."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._leaving = _stopped(self._leaving)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._watch_close()

    def shutdown(self) -> None:
        """Close the connection after the current answer."""
        super().shutdown()
        self._watch_close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waits."""
        self.shares.close(self)
        if not self._begun:
            return  # it closed together with the TLS handshake
        self._arriving = _stopped(self._arriving)
        self._leaving = _stopped(self._leaving)
        super().connection_lost(exc)

    def _watch_arrival(self) -> None:
        """Run the time limit of a request from its first byte until it is complete."""
        state = self.conn.their_state
        begun = state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))
        if not begun or self.transport.is_closing():
            self._arriving = _stopped(self._arriving)
            return
        self.timeout_keep_alive_task = _stopped(self.timeout_keep_alive_task)
        if self._arriving is None:
            self._arriving = self._after(self.request_s, self._too_slow)

    def _watch_close(self) -> None:
        """Limit the time in which the client of a closing connection reads the last bytes."""
        if self.transport.is_closing() and self._leaving is None:
            self._leaving = self._after(self.write_s, self._unread)

    def _too_slow(self) -> None:
        self._arriving = None
        if self.conn.our_state is h11.IDLE:
            self._end_with(_TOO_SLOW)
        else:
            # An answer may be half written, and the code that waits for the rest of the request must learn of the end.
            logger.info("a client was too slow with its request: its connection is closed")
            self.transport.abort()

    def _unread(self) -> None:
        self._leaving = None
        logger.info("a client does not read what it is sent: its connection is closed")
        self.transport.abort()

    def _end_with(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
        self._watch_close()

    def _after(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, act)


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, if there is one; return None for its variable."""
    if timer is not None:
        timer.cancel()
    return None
