"""Connections as httpcore opens them, with less work for each request.

The head of a request and its body go in one write: a packet, a system call and a wake-up of the server less. Whether
an idle connection has been closed by its server is asked of its socket alone, and once more when a call is to be sent:
one that goes to a closed connection is lost, as nobody knows whether it was begun.
"""

from __future__ import annotations

import select
import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore2

_HEAD, _END = b"POST ", b"\r\n\r\n"
IDLE_S = 3.0
"""How long a connection may be idle and be used again. Servers of the usual kinds close one that was for 5 s."""
MAX_JOINED_BYTES = 64 * 1024
"""What is more is written by itself: copying it would cost more than it saves."""


class JoiningBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections by another backend, and joins what is written to them."""

    def __init__(self, inner: httpcore2.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect, as the inner backend does."""
        return JoinedStream(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Connect, as the inner backend does."""
        return JoinedStream(await self._inner.connect_unix_socket(path, timeout, socket_options))

    async def sleep(self, seconds: float) -> None:
        """Sleep, as the inner backend does."""
        await self._inner.sleep(seconds)


class JoinedStream(httpcore2.AsyncNetworkStream):
    """A connection that keeps the head of a POST until its body comes, or an answer is read."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self._head = b""
        self._read_at: float | None = None
        self._socket: Any = None
        self._poll: Any = None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write, or keep the head of a request for the next write.

        Raises: httpcore2.ConnectionNotAvailable before a request on a connection that may be closed by now, for which
        the pool takes another: it was open when the pool chose it, which on a busy machine is a while ago.
        """
        if not self._head and buffer.startswith(_HEAD) and buffer.endswith(_END):
            if self._read_at is not None and (time.monotonic() - self._read_at > IDLE_S or self._is_readable()):
                raise httpcore2.ConnectionNotAvailable
            self._head = buffer
            return
        if self._head and len(buffer) > MAX_JOINED_BYTES:
            await self._flush(timeout)
        head, self._head = self._head, b""
        await self._inner.write(head + buffer if head else buffer, timeout)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read; a request that has no body is sent before."""
        await self._flush(timeout)
        piece = await self._inner.read(max_bytes, timeout)
        self._read_at = time.monotonic()
        return piece

    async def _flush(self, timeout: float | None) -> None:
        if self._head:
            head, self._head = self._head, b""
            await self._inner.write(head, timeout)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Go on in TLS."""
        await self._flush(timeout)
        return JoinedStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the connection."""
        return self._is_readable() if info == "is_readable" else self._inner.get_extra_info(info)

    def _is_readable(self) -> bool:
        """Tell whether something, or the end, is there to be read: of each idle connection before each request.

        The inner stream would look up all that it knows of its socket, names included, each time.
        """
        if not hasattr(select, "poll"):
            return bool(self._inner.get_extra_info("is_readable"))
        if self._poll is None:
            self._socket = self._inner.get_extra_info("socket")
            if self._socket is None or self._socket.fileno() < 0:
                return True
            self._poll = select.poll()
            self._poll.register(self._socket.fileno(), select.POLLIN)
        return self._socket.fileno() < 0 or bool(self._poll.poll(0))
