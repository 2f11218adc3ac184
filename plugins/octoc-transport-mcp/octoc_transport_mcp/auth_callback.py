"""The address of this machine to which the browser returns after a login; open only during the login."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

from mcp.shared.auth import AuthorizationCodeResult

from octoc.plugin import ConnectFailedError

_MAX_REQUEST_BYTES = 32 * 1024
_MAX_SECONDS = 10.0
_HEAD = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
)


class Callback:
    """Listens for one answer. A request without the expected `state` is refused and changes nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = ""
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    def expect(self, authorization_url: str) -> None:
        """Accept only the answer to this request, which has the same `state`."""
        self._state = parse_qs(urlsplit(authorization_url).query).get("state", [""])[0]

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the browser. Raises: ConnectFailedError, if it brings an error."""
        return await self._answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser."""
        status, text = "400 Bad Request", "This does not answer a running login."
        try:
            async with asyncio.timeout(_MAX_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            method, location, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            if method == "GET" and urlsplit(location).path == self._path and self._take(urlsplit(location).query):
                status, text = "200 OK", "octoc has the answer. You can close this window."
        except (TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # not an answer to a login: refused below
        body = f"<!doctype html><title>octoc</title><p>{text}".encode()
        with contextlib.suppress(OSError):
            writer.write(_HEAD.format(status=status, length=len(body)).encode() + body)
            await writer.drain()
        writer.close()

    def _take(self, query: str) -> bool:
        fields = {name: values[0] for name, values in parse_qs(query).items()}
        state = fields.get("state", "")
        if not self._state or not hmac.compare_digest(state.encode(), self._state.encode()) or self._answer.done():
            return False
        if "code" in fields:
            self._answer.set_result(AuthorizationCodeResult(code=fields["code"], state=state, iss=fields.get("iss")))
        else:
            code = "".join(c for c in fields.get("error", "no code") if c.isalnum() or c in "_ ")[:40]
            text = f"the authorization server did not allow it: `{code}`"
            self._answer.set_exception(ConnectFailedError(text, kind="unauthorized", permanent=True))
        return True


@contextlib.asynccontextmanager
async def listening(host: str, port: int, path: str) -> AsyncIterator[tuple[Callback, int]]:
    """Listen on this machine only; yield the callback and its port. With port 0 the system picks one.

    Raises: OSError, if the port is taken.
    """
    callback = Callback(path or "/")
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(callback.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(
        connected, "127.0.0.1" if host == "localhost" else host, port, limit=_MAX_REQUEST_BYTES
    )
    try:
        yield callback, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)  # the browser still gets its page
        for task in tasks:
            task.cancel()
