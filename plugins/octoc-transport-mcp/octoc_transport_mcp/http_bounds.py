"""An HTTP transport with limits: it holds at most a fixed number of bytes of an answer at once."""

from __future__ import annotations

import asyncio
import ssl
import urllib.request
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx2

from octoc.plugin.toolkit import is_loopback

DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024
EVENT_STREAM = "text/event-stream"
IDLE_S = 3.0
"""How long an idle connection may be used again. Common servers close a connection that was idle for 5 s; a call that
is sent at that moment fails, and is not sent again, since the server may have begun it."""
_PIECE = 64 * 1024
_LIMITS = httpx2.Limits(max_connections=200, max_keepalive_connections=20, keepalive_expiry=IDLE_S)
_WINDOW_BITS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class BodyTooLargeError(httpx2.DecodingError):
    """A decompressed body has more bytes than the limit."""


class BrokenEncodingError(httpx2.DecodingError):
    """A body cannot be decompressed; the message gives the reason in a few words."""


def media_type(headers: httpx2.Headers) -> str:
    """Return the content type without its parameters, in lower case; empty if there is none."""
    kind: str = headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends requests directly or through the environment's proxy, and reads answers up to `max_bytes`, decompressed.

    A requested stream of events has no limit as a whole; its reader limits each event.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._routes: dict[tuple[bool, str | None], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response; reading its body raises BodyTooLargeError or BrokenEncodingError."""
        route = await self._route(request.url)
        opening = _Opening()
        request.extensions = {**request.extensions, "trace": opening.trace}
        try:
            response = await route.handle_async_request(request)
        finally:
            await opening.abandon()
        events = EVENT_STREAM in request.headers.get("accept", "") and media_type(response.headers) == EVENT_STREAM
        encoding = response.headers.get("content-encoding", "").strip().lower()
        stream = response.stream
        if not isinstance(stream, httpx2.AsyncByteStream):  # the transport's contract; for the type checker
            raise BrokenEncodingError("a body that cannot be read")
        return httpx2.Response(
            response.status_code,
            headers=[
                (name, value)
                for name, value in response.headers.raw
                if name.lower() not in {b"content-encoding", b"content-length"}
            ],
            stream=_Body(stream, encoding, None if events else self._max_bytes),
            extensions=response.extensions,
        )

    async def _route(self, url: httpx2.URL) -> httpx2.AsyncHTTPTransport:
        proxy = proxy_of(url)
        secure = url.scheme == "https"
        route = self._routes.get((secure, proxy))
        if route is None:
            # Reading the certificates takes time: in a thread, so that it does not block the host's loop.
            tls = await asyncio.to_thread(_trusting) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            tls.minimum_version = ssl.TLSVersion.TLSv1_2
            made = httpx2.AsyncHTTPTransport(verify=tls, limits=_LIMITS, proxy=proxy)
            route = self._routes.setdefault((secure, proxy), made)
        return route

    async def aclose(self) -> None:
        """Close every socket."""
        for route in self._routes.values():
            await route.aclose()


def _trusting() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def proxy_of(url: httpx2.URL) -> str | None:
    """Return the environment's proxy for a URL, or None. Requests to this machine never go to a proxy."""
    if is_loopback(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


class _Body(httpx2.AsyncByteStream):
    """A body, decompressed in pieces of at most 64 KiB and counted."""

    def __init__(self, raw: httpx2.AsyncByteStream, encoding: str, limit: int | None) -> None:
        self._raw = raw
        self._encoding = encoding
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoder = _Decoder(self._encoding)
        count = 0
        async for raw in self._raw:
            for piece in decoder.pieces(raw):
                count += len(piece)
                if self._limit is not None and count > self._limit:
                    raise BodyTooLargeError(f"more than {self._limit} bytes")
                yield piece
        decoder.end()

    async def aclose(self) -> None:
        await self._raw.aclose()


class _Decoder:
    def __init__(self, encoding: str) -> None:
        self._plain = encoding in {"", "identity"}
        self._inflate = None if self._plain else _inflating(encoding)
        self._fed = False

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield the decompressed pieces of `raw`. Raises: BrokenEncodingError."""
        inflate = self._inflate
        if inflate is None:
            yield raw
            return
        self._fed = self._fed or bool(raw)
        try:
            while raw and not inflate.eof:
                piece = inflate.decompress(raw, _PIECE)
                raw = inflate.unconsumed_tail
                if piece:
                    yield piece
        except zlib.error:
            raise BrokenEncodingError("a compressed body that is broken") from None

    def end(self) -> None:
        """Check that the compressed body is complete. Raises: BrokenEncodingError."""
        if self._inflate is not None and self._fed and not self._inflate.eof:
            raise BrokenEncodingError("a compressed body that ends too early")


def _inflating(encoding: str) -> zlib._Decompress:
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise BrokenEncodingError("a content encoding that was not asked for")
    return zlib.decompressobj(bits)


class _Opening:
    """The socket of a request before it is sent: httpcore leaves it open when a handshake is cancelled."""

    def __init__(self) -> None:
        self._stream: Any = None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the progress of a request, as httpcore traces it."""
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event.endswith(".send_request_headers.started"):
            self._stream = None

    async def abandon(self) -> None:
        """Close the socket, unless the request has been sent over it."""
        if self._stream is not None:
            await self._stream.aclose()
