"""A stdio server's process: its pipes as the SDK's message streams, the end of its stderr, and its certain end.

The SDK's own `stdio_client` hides the process and joins an endless line without a limit. Here failures have the exit
code and the last lines of stderr, lines are bounded, and no process stays after its host, however the host ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

import anyio

from octoc.plugin import ServerTarget
from octoc.plugin.toolkit import usual_environment
from octoc_transport_mcp.guard import Guard
from octoc_transport_mcp.messages import ElementLimits
from octoc_transport_mcp.pending_requests import PendingRequests
from octoc_transport_mcp.streams import FromServer, ToServer

if TYPE_CHECKING:
    from octoc_transport_mcp.claims import Claims

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a line, unless the target sets its own."""
EXIT_GRACE_S = 2.0
"""How long a server may take to end after its stdin was closed; the same as in the SDK."""
TERM_GRACE_S = 1.0
"""How long its process group may take to end after SIGTERM."""
KILL_WAIT_S = 1.0
LAST_OUTPUT_S = 0.1
LONGEST_LAST_OUTPUT_S = 3.0
"""How long an ended process may be silent, and how long it is read in all: a child may keep its pipes open forever."""
PROBE_S = 10.0
PROBE_SHARE = 1 / 3
"""Limits on the wait for an answer to the newer era's first request: seconds, and share of the time to connect."""
STDERR_LINES = 20
STDERR_BYTES = 8 * 1024


class StderrTail:
    """The last lines that a server wrote to stderr: at most STDERR_LINES lines and STDERR_BYTES bytes."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._open = b""
        self.written = 0
        """Number of bytes written in all."""

    def feed(self, chunk: bytes) -> None:
        """Note bytes that the server wrote."""
        self.written += len(chunk)
        *lines, rest = (self._open + chunk).split(b"\n")
        self._lines.extend(line[-STDERR_BYTES:] for line in lines[-STDERR_LINES:] if line.strip())
        self._open = rest[-STDERR_BYTES:]

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first; bytes that are not UTF-8 are replaced."""
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
    """A running server. `lost` is True once it can neither be written to nor read.

    It belongs to the process that started it: a forked child neither ends it nor touches its pipes.
    """

    def __init__(self, target: ServerTarget, claims: Claims | None = None) -> None:
        limit = target.max_body_bytes or MAX_BODY_BYTES
        self._probe_s = min(PROBE_S, target.timeout_s * PROBE_SHARE)
        self._exited = asyncio.Event()
        self._host = os.getpid()
        self._left = False
        self._read = 0
        self._last_output: asyncio.TimerHandle | None = None
        self._pending = PendingRequests(limit, ElementLimits.of(target), claims)
        self._reader = FromServer(self._pending, limit, self._throttle)
        self.stderr = StderrTail()
        self.lost = False
        self.stopped = False
        """Whether the server still ran when `stop` began."""
        self.impatient = False
        """If true, `stop` skips the grace period."""

    @classmethod
    async def start(cls, target: ServerTarget, claims: Claims | None = None) -> ServerProcess:
        """Start the server's command in a process group of its own. Raises: OSError, ValueError (a NUL in a string)."""
        _, process = await asyncio.get_running_loop().subprocess_exec(
            lambda: cls(target, claims),
            target.command or "",
            *target.args,
            env=usual_environment(os.environ) | dict(target.env),
            cwd=target.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return process

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._guard = Guard.of(self._transport.get_pid())
        stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._writer = ToServer(stdin, self._pending, self._reader, self._probe_s)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._read += len(data)
        if fd == 1:
            self._reader.feed(data)
        else:
            self.stderr.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writer.lost = True
            self._writer.resume()
        elif fd == 1:
            self._end()

    def process_exited(self) -> None:
        self._exited.set()
        self._listen_on(-1, 0.0)

    def _listen_on(self, seen: int, waited: float) -> None:
        """Wait while output still arrives, then release the process."""
        if self._read == seen or waited > LONGEST_LAST_OUTPUT_S:
            self._release()
        else:
            loop = asyncio.get_running_loop()
            self._last_output = loop.call_later(LAST_OUTPUT_S, self._listen_on, self._read, waited + LAST_OUTPUT_S)

    def pause_writing(self) -> None:
        self._writer.pause()

    def resume_writing(self) -> None:
        self._writer.resume()

    def _throttle(self, *, pause: bool) -> None:
        stdout = self._transport.get_pipe_transport(1)
        if isinstance(stdout, asyncio.ReadTransport) and not stdout.is_closing():
            stdout.pause_reading() if pause else stdout.resume_reading()

    def _end(self) -> None:
        self.lost = True
        self._reader.end()

    def _release(self) -> None:
        """End the children of an ended process, which hold its pipes open."""
        self._end()
        self.kill()

    # Used by the connection.

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the server runs."""
        return self._transport.get_returncode()

    @property
    def garbage(self) -> str | None:
        """The last printed line that was not a message, if any."""
        return self._pending.garbage if self._pending.garbage_lines else None

    @property
    def output_counts(self) -> tuple[int, int]:
        """Number of printed lines that were not messages, and of bytes written to stderr."""
        return self._pending.garbage_lines, self.stderr.written

    async def wait_exit(self, seconds: float) -> bool:
        """Return whether the server ended within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    def streams(self) -> tuple[FromServer, ToServer]:
        """Return the streams for the SDK to read and write."""
        return self._reader, self._writer

    async def stop(self) -> None:
        """End the server: close stdin, wait, SIGTERM to its group, wait, SIGKILL. Takes at most 4 s."""
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
        """Kill the rest of the process group and close the pipes, without waiting."""
        if self._left or self._host != os.getpid():
            return  # the system may have given its group number to another process
        self._left = True
        if self._last_output is not None:
            self._last_output.cancel()
        self._end()
        self._signal(signal.SIGKILL)
        with contextlib.suppress(PermissionError):
            self._transport.close()
        if self._guard is not None:
            self._guard.release()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)


@contextlib.asynccontextmanager
async def process_streams(process: ServerProcess) -> AsyncIterator[tuple[FromServer, ToServer]]:
    """Yield the SDK's streams of a running server; the server always ends with the block."""
    try:
        yield process.streams()
    finally:
        try:
            with anyio.CancelScope(shield=True):
                await process.stop()
        finally:
            # When the loop shuts down, it cancels even shielded work; this call needs no wait.
            process.kill()
