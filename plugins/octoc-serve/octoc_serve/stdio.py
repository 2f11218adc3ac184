"""One client over stdin and stdout, which nothing else in the process uses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
import threading
from collections.abc import Iterator
from typing import BinaryIO, cast

import anyio
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp_types import PARSE_ERROR

from octoc.plugin.toolkit import excess, odd_number

logger = logging.getLogger(__name__)


class LinePipe:
    """Reads lines from one pipe and writes lines to another.

    Each pipe has its own daemon thread: the SDK's threads would keep the process alive until the client writes another
    line.
    """

    def __init__(self, source: BinaryIO, sink: BinaryIO, max_bytes: int, max_elements: int) -> None:
        self._source = source
        self._sink = sink
        self._max_bytes = max_bytes
        self._max_elements = max_elements
        self._loop = asyncio.get_running_loop()
        self._read: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
        self._write: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self._ended = asyncio.Event()
        for work in (self._reading, self._writing):
            threading.Thread(target=work, name=f"octoc serve {work.__name__}", daemon=True).start()

    def end(self) -> None:
        """End the iteration, as if the client had disconnected."""
        self._ended.set()

    def __aiter__(self) -> LinePipe:
        return self

    async def __anext__(self) -> str:
        ended = asyncio.ensure_future(self._ended.wait())
        line = asyncio.ensure_future(self._read.get())
        try:
            await asyncio.wait((ended, line), return_when=asyncio.FIRST_COMPLETED)
            text = None if self._ended.is_set() else line.result()
        finally:
            ended.cancel()
            line.cancel()
        if text is None:
            raise StopAsyncIteration
        return text

    async def write(self, text: str) -> None:
        """Write a line; it is dropped if the client has disconnected."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._write.put((text.encode(), written))
        with contextlib.suppress(OSError):
            await written
            return
        self.end()

    async def flush(self) -> None:
        """Do nothing: `write` flushes each line."""

    def _reading(self) -> None:
        try:
            while line := self._source.readline(self._max_bytes + 1):
                if len(line) > self._max_bytes:
                    logger.error("the client sent a line of more than %d bytes: the session ends", self._max_bytes)
                    break
                over = excess(line, self._max_elements)
                if over is not None:
                    logger.error("the client sent a line with %s: the session ends", over)
                    break
                number = odd_number(line)
                if number is None:
                    self._pass(line.decode("utf-8", "replace"))
                else:
                    self._refuse(line, f"a message cannot be read: {number}")
            self._pass(None)
        except (OSError, RuntimeError, asyncio.CancelledError):
            return  # the pipe broke or the loop is closed

    def _pass(self, line: str | None) -> None:
        # Wait until the line is consumed, so that a fast client is slowed down by its own pipe.
        asyncio.run_coroutine_threadsafe(self._read.put(line), self._loop).result()

    def _refuse(self, line: bytes, reason: str) -> None:
        """Answer a line that is not passed on, if it is a request."""
        logger.warning("%s", reason)
        try:
            message = json.loads(line)  # which takes NaN and the infinities
        except ValueError:
            return
        number = message.get("id") if isinstance(message, dict) and "method" in message else None
        if isinstance(number, (int, str)):
            error = {"code": PARSE_ERROR, "message": reason}
            answer = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
            asyncio.run_coroutine_threadsafe(self.write(f"{answer}\n"), self._loop).result()

    def _writing(self) -> None:
        while True:
            data, written = self._write.get()
            error: OSError | None = None
            try:
                self._sink.write(data)
                self._sink.flush()
            except OSError as failed:
                error = failed
            try:
                self._loop.call_soon_threadsafe(_settle, written, error)
            except RuntimeError:  # the loop is closed
                return


def _settle(written: asyncio.Future[None], error: OSError | None) -> None:
    if written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)


@contextlib.contextmanager
def claimed() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Yield private copies of stdin and stdout. During the block the process's own are the null device and stderr."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    try:
        # Never closed, since a thread may still wait in them.
        yield os.fdopen(source, "rb", closefd=False), os.fdopen(sink, "wb", closefd=False)
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)


async def serve_lines(server: Server[object], lines: LinePipe) -> None:
    """Serve the client until it disconnects or `lines.end` is called; running calls are cancelled then."""
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    pipe = cast("anyio.AsyncFile[str]", lines)
    async with stdio_server(pipe, pipe) as (read, write):
        await server.run(read, write, options)
        lines.end()
