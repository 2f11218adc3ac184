"""A stdio server's process: its pipes as the SDK's message streams, what it wrote to stderr, and its certain end.

The SDK's own `stdio_client` keeps the process to itself and joins an endless line without bound. Here its exit code can
be told, its stderr is kept, lines are bounded, and a host that cancels everything still leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncIterator
from typing import cast

import anyio

from octoc.plugin.protocols import ServerTarget
from octoc.server_environment import usual_environment
from octoc_transport_mcp.guard import Guard
from octoc_transport_mcp.messages import ElementLimits
from octoc_transport_mcp.pending_requests import PendingRequests, Watcher
from octoc_transport_mcp.streams import FromServer, ToServer

MAX_BODY_BYTES = 16 * 1024 * 1024
"""The longest line that is read of a server whose target does not say otherwise."""
EXIT_GRACE_S = 2.0
"""How long a server may take to end after its stdin was closed, as in the SDK."""
TERM_GRACE_S = 1.0
"""How long its process group may take to end after SIGTERM."""
KILL_WAIT_S = 1.0
LAST_WORDS_S = 0.1
LONGEST_LAST_WORDS_S = 3.0
"""How long an ended process may be silent, and how long it is read at all: a child may keep its pipes open for ever."""
PROBE_S = 10.0
PROBE_SHARE = 1 / 3
"""How long, and for which share of the time to connect, a server may be silent to the newer era's first request."""
STDERR_LINES = 20
STDERR_BYTES = 8 * 1024


class StderrTail:
    """The last lines that a server wrote to stderr: at most STDERR_LINES lines and STDERR_BYTES bytes."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._open = b""
        self.written = 0
        """How many bytes it wrote in all."""

    def feed(self, chunk: bytes) -> None:
        """Take what it wrote."""
        self.written += len(chunk)
        *lines, rest = (self._open + chunk).split(b"\n")
        self._lines.extend(line[-STDERR_BYTES:] for line in lines[-STDERR_LINES:] if line.strip())
        self._open = rest[-STDERR_BYTES:]

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first; bytes that are no UTF-8 are replaced."""
        lines = [*self._lines, *([self._open] if self._open.strip() else [])][-STDERR_LINES:]
        kept: list[str] = []
        room = STDERR_BYTES
        for line in reversed(lines):
            room -= len(line)
            if room < 0:
                break
            kept.append(line.decode("utf-8", "replace").strip())
        return tuple(reversed(kept))


class ServerProcess(asyncio.SubprocessProtocol):
    """A running server. `lost` is True once it can be neither written to nor read.

    It belongs to the process that started it: in a forked child nothing here ends it or touches its pipes.
    """

    def __init__(self, target: ServerTarget, watcher: Watcher | None = None) -> None:
        limit = target.max_body_bytes or MAX_BODY_BYTES
        self._probe_s = min(PROBE_S, target.timeout_s * PROBE_SHARE)
        self._exited = asyncio.Event()
        self._host = os.getpid()
        self._guard: Guard | None = None
        self._left = False
        self._read = 0
        self._transport: asyncio.SubprocessTransport | None = None
        self._last_words: asyncio.TimerHandle | None = None
        self._writer: ToServer | None = None
        self._pending = PendingRequests(limit, ElementLimits.of(target), watcher)
        self._reader = FromServer(self._pending, limit, self._throttle)
        self.stderr = StderrTail()
        self.lost = False
        self.stopped = False
        """Whether it still ran when it was told to end."""
        self.impatient = False
        """Set when nothing is worth waiting for: `stop` then skips the grace of a server that answered."""

    @classmethod
    async def start(cls, target: ServerTarget, watcher: Watcher | None = None) -> ServerProcess:
        """Start the server's command in a process group of its own. Raises: OSError, ValueError (a NUL in a string)."""
        process = cls(target, watcher)
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: process,
            target.command or "",
            *target.args,
            env=usual_environment(os.environ) | dict(target.env),
            cwd=target.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        process._transport = transport
        process._guard = Guard.of(transport.get_pid())
        process._writer = ToServer(stdin, process._pending, process._reader, process._probe_s)
        return process

    # What the event loop calls.

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._read += len(data)
        if fd == 1:
            self._reader.feed(data)
        else:
            self.stderr.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0 and self._writer is not None:
            self._writer.lost = True
            self._writer.resume()
        elif fd == 1:
            self._end()

    def process_exited(self) -> None:
        self._exited.set()
        self._listen_on(-1, 0.0)

    def _listen_on(self, seen: int, waited: float) -> None:
        """Wait while what it wrote still comes in, then bury it."""
        if self._read == seen or waited > LONGEST_LAST_WORDS_S:
            self._bury()
        else:
            loop = asyncio.get_running_loop()
            self._last_words = loop.call_later(LAST_WORDS_S, self._listen_on, self._read, waited + LAST_WORDS_S)

    def pause_writing(self) -> None:
        if self._writer is not None:
            self._writer.pause()

    def resume_writing(self) -> None:
        if self._writer is not None:
            self._writer.resume()

    def _throttle(self, *, pause: bool) -> None:
        stdout = None if self._transport is None else self._transport.get_pipe_transport(1)
        if isinstance(stdout, asyncio.ReadTransport) and not stdout.is_closing():
            stdout.pause_reading() if pause else stdout.resume_reading()

    def _end(self) -> None:
        self.lost = True
        self._reader.end()

    def _bury(self) -> None:
        """End what an ended process left: its children, and the pipes that they hold open."""
        self._end()
        self.kill()

    # What the connection asks.

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def garbage(self) -> str | None:
        """The last line that it printed and that was no message, if it did."""
        return self._pending.garbage if self._pending.garbage_lines else None

    @property
    def said(self) -> tuple[int, int]:
        """How many lines that were no message it has printed, and how many bytes it has written to stderr."""
        return self._pending.garbage_lines, self.stderr.written

    async def wait_exit(self, seconds: float) -> bool:
        """Tell whether it has ended within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    def streams(self) -> tuple[FromServer, ToServer]:
        """Return what the SDK reads and writes."""
        if self._writer is None:
            raise RuntimeError("the process was not started")
        return self._reader, self._writer

    async def stop(self) -> None:
        """End it: close stdin, wait, SIGTERM to its group, wait, SIGKILL. Takes 4 s at most."""
        if self._host != os.getpid():
            return
        self.stopped = not self.lost and self.exit_code is None
        reader, writer = self.streams()
        await reader.aclose()
        await writer.aclose()
        if not await self.wait_exit(0.0 if self.impatient else EXIT_GRACE_S):
            self._signal(signal.SIGTERM)
            if not await self.wait_exit(TERM_GRACE_S):
                self._signal(signal.SIGKILL)
                await self.wait_exit(KILL_WAIT_S)
        self.kill()

    def kill(self) -> None:
        """Kill whatever is left of its group, now, and let go of the pipes: nothing here waits."""
        if self._left or self._transport is None or self._host != os.getpid():
            return  # the number of its group may be another's by now
        self._left = True
        if self._last_words is not None:
            self._last_words.cancel()
        self._end()
        self._signal(signal.SIGKILL)
        with contextlib.suppress(PermissionError):
            self._transport.close()
        if self._guard is not None:
            self._guard.release()

    def _signal(self, number: signal.Signals) -> None:
        if self._transport is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._transport.get_pid(), number)


@contextlib.asynccontextmanager
async def process_streams(process: ServerProcess) -> AsyncIterator[tuple[FromServer, ToServer]]:
    """Yield the SDK's streams of a running server; when the block ends, so does the server, in every case."""
    try:
        yield process.streams()
    finally:
        try:
            with anyio.CancelScope(shield=True):
                await process.stop()
        finally:
            # The shield does not hold against a loop that is shut down: this does, since it waits for nothing.
            process.kill()
