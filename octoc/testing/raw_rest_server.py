"""A REST server that sends exactly the given bytes, for tests of transports.

    outcome = asyncio.run(visit_rest_server(transport, send_and_close(http_response(b"[1]")), visit))

It answers `GET /api/health` correctly and everything else with the given bytes. It listens on the loopback and needs
only the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from octoc.plugin import Connection, ServerTarget, Transport

REST_TOKEN = "s3cr3t-t0ken"
"""The bearer of the target that `visit_rest_server` connects to."""

RestConversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def http_response(
    body: bytes, status: str = "200 OK", kind: str | None = "application/json", *more: str, length: int | None = None
) -> bytes:
    """Return a whole response; `kind` is its content type, `length` the Content-Length if not that of `body`."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *more]
    lines += [] if kind is None else [f"Content-Type: {kind}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


HEALTHY = http_response(b'{"status":"ok","version":"1.2.3"}')


@attrs.define
class RawRestServer:
    """A REST server whose health is fine; `talk` answers every other request. `requests` keeps their heads."""

    talk: RestConversation
    requests: list[bytes] = attrs.field(factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.requests.append(head)
                if head.startswith(b"GET /api/health "):
                    writer.write(HEALTHY)
                    continue
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        await reader.readexactly(int(line.partition(b":")[2]))
                await self.talk(reader, writer)
                await writer.drain()
                break
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def send_and_close(*pieces: bytes) -> RestConversation:
    """Return a conversation that sends `pieces` and closes the connection."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return talk


def send_slowly(before: bytes, again: bytes) -> RestConversation:
    """Return a conversation that sends `before`, and then `again` twenty times a second without end."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0.05)

    return talk


async def visit_rest_server(
    transport: Transport, talk: RestConversation, visit: Callable[[Connection], Awaitable[Any]], **fields: Any
) -> tuple[Any, RawRestServer]:
    """Connect `transport` to a server that answers with `talk`; return the result of `visit`, and the server.

    `fields` replace fields of the target. Raises: ConnectFailedError.
    """
    faulty = RawRestServer(talk)
    tasks: set[asyncio.Task[Any]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            tasks.add(task)
        with contextlib.suppress(asyncio.CancelledError):
            await faulty(reader, writer)
        writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    target = ServerTarget(
        **{
            "name": "orders",
            "transport": "rest",
            "url": f"http://127.0.0.1:{port}/api/",
            "auth": {"type": "bearer", "token": REST_TOKEN},
            "secrets": (REST_TOKEN,),
            **fields,
        }
    )
    try:
        connection = await transport.connect(target)
        try:
            return await visit(connection), faulty
        finally:
            await connection.close()
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
