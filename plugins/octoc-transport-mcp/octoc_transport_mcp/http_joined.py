"""The head of a request and its body in one write: a packet, a system call and a wake-up of the server less."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2

_HEAD, _END = b"POST ", b"\r\n\r\n"
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

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write, or keep the head of a request for the next write."""
        if not self._head and buffer.startswith(_HEAD) and buffer.endswith(_END):
            self._head = buffer
            return
        if self._head and len(buffer) > MAX_JOINED_BYTES:
            await self._flush(timeout)
        head, self._head = self._head, b""
        await self._inner.write(head + buffer if head else buffer, timeout)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read; a request that has no body is sent before."""
        await self._flush(timeout)
        return await self._inner.read(max_bytes, timeout)

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
        return self._inner.get_extra_info(info)
