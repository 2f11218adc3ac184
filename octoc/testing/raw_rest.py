"""A REST server that sends exactly the given bytes, and what a transport makes of them.

    outcome = asyncio.run(visited(transport, says(answer(b"[1]")), visit))

Its health is sound; how it answers everything else is `talk`. Loopback only, and only the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from octoc.plugin import Connection, ServerTarget, Transport

TOKEN = "s3cr3t-t0ken"
"""The bearer of the target that `visited` connects to."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes, status: str = "200 OK", kind: str | None = "application/json", *more: str, length: int | None = None
) -> bytes:
    """Return a whole response; `length` is what it claims, its body's own by default."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *more]
    lines += [] if kind is None else [f"Content-Type: {kind}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


HEALTHY = answer(b'{"status":"ok","version":"1.2.3"}')


@attrs.define
class Faulty:
    """A server that is healthy, and answers every other request as `talk` does. It keeps what it was asked."""

    talk: Talk
    asked: list[bytes] = attrs.field(factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked.append(head)
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


def says(*pieces: bytes) -> Talk:
    """Return a server's part that sends `pieces` and closes."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return talk


def slowly(before: bytes, again: bytes) -> Talk:
    """Return a server's part that sends `before`, and then `again` twenty times a second for ever."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0.05)

    return talk


async def visited(
    transport: Transport, talk: Talk, visit: Callable[[Connection], Awaitable[Any]], **fields: Any
) -> tuple[Any, Faulty]:
    """Return what `visit` made of a connection to a server that answers as `talk`, and that server.

    `fields` are the target's own. Raises: ConnectFailedError.
    """
    faulty = Faulty(talk)
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
            "auth": {"type": "bearer", "token": TOKEN},
            "secrets": (TOKEN,),
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
