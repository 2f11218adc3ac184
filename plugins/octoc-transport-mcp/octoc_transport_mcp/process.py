"""A stdio server's process: its pipes as the SDK's message streams, what it wrote to stderr, and its certain end.

The SDK's own `stdio_client` keeps the process to itself. Here its exit code can be told, its stderr is kept, and a host
that cancels everything still leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncIterator

import anyio
import mcp_types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from octoc.plugin.protocols import ServerTarget

EXIT_GRACE_S = 2.0
"""How long a server may take to end after its stdin was closed, as in the SDK."""
TERM_GRACE_S = 1.0
"""How long its process group may take to end after SIGTERM."""
KILL_WAIT_S = 1.0
LAST_WORDS_S = 0.1
"""How long what an ended process wrote is still read."""
STDERR_LINES = 20
STDERR_BYTES = 8 * 1024
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_CHUNK = 64 * 1024

ReadStream = ObjectReceiveStream[SessionMessage | Exception]
WriteStream = ObjectSendStream[SessionMessage]


class StderrTail:
    """The last lines that a server wrote to stderr: at most STDERR_LINES lines and STDERR_BYTES bytes."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._open = b""

    def feed(self, chunk: bytes) -> None:
        *lines, rest = (self._open + chunk).split(b"\n")
        self._lines.extend(line[-STDERR_BYTES:] for line in lines if line.strip())
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


class _Exit(asyncio.subprocess.SubprocessStreamProtocol):
    """Tells when the process itself has ended: `wait` waits for its pipes too, which a child may hold open."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_CHUNK, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class ServerProcess:
    """A running server. `lost` is True once its stdout has ended; `garbage` is the first line that was no message."""

    def __init__(self, transport: asyncio.SubprocessTransport, protocol: _Exit) -> None:
        self._transport = transport
        self._exited = protocol.exited
        self._process = asyncio.subprocess.Process(transport, protocol, asyncio.get_running_loop())
        self.stderr = StderrTail()
        self.lost = False
        self.garbage: str | None = None
        self._left = False
        self.stopped = False
        """Whether it still ran when it was told to end."""
        self.impatient = False
        """Set when nothing is worth waiting for: `stop` then skips the grace of a server that answered."""

    @classmethod
    async def start(cls, target: ServerTarget) -> ServerProcess:
        """Start the server's command in a process group of its own. Raises: OSError, ValueError (a NUL in a string)."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: _Exit(loop),
            target.command or "",
            *target.args,
            env=get_default_environment() | dict(target.env),
            cwd=target.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return cls(transport, protocol)

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def wait_exit(self, seconds: float) -> bool:
        """Tell whether it has ended within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    async def watch_exit(self, send: ObjectSendStream[SessionMessage | Exception]) -> None:
        """End the session when the process has ended, though a child of it keeps stdout open."""
        await self._exited.wait()
        await asyncio.sleep(LAST_WORDS_S)
        self.lost = True
        await send.aclose()

    async def read_stdout(self, send: ObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass each line on as a message, or as the exception it makes, until stdout ends."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101  # started with a pipe
        buffer = bytearray()
        listening = True
        async with send:
            while chunk := await stdout.read(_CHUNK):
                if not listening:
                    continue  # a server that still writes must not block while it ends
                buffer += chunk
                if b"\n" not in chunk:
                    listening = len(buffer) <= MAX_MESSAGE_BYTES
                    if not listening:
                        self.garbage = f"a message of more than {MAX_MESSAGE_BYTES} bytes"
                        await send.aclose()
                    continue
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                for line in lines:
                    if line.strip():
                        try:
                            await send.send(self._message(line))
                        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                            listening = False
                            break
            self.lost = True

    def _message(self, line: bytes) -> SessionMessage | Exception:
        try:
            return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            if self.garbage is None:
                self.garbage = line[:200].decode("utf-8", "replace").strip()
            return error

    async def write_stdin(self, receive: ObjectReceiveStream[SessionMessage]) -> None:
        """Write each message as one line, until there are no more or the server reads no longer."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101  # started with a pipe
        async with receive:
            async for message in receive:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    stdin.write(text.encode() + b"\n")
                    await stdin.drain()
                except (
                    OSError,
                    RuntimeError,
                ):  # the pipe is broken or was closed: reading tells that the server is gone
                    return

    async def read_stderr(self) -> None:
        """Keep the tail of stderr, until it ends."""
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101  # started with a pipe
        while chunk := await stderr.read(_CHUNK):
            self.stderr.feed(chunk)

    async def stop(self) -> None:
        """End it: close stdin, wait, SIGTERM to its group, wait, SIGKILL. Takes 4 s at most."""
        self.stopped = not self.lost and self._process.returncode is None
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not await self.wait_exit(0.0 if self.impatient else EXIT_GRACE_S):
            self._signal(signal.SIGTERM)
            if not await self.wait_exit(TERM_GRACE_S):
                self._signal(signal.SIGKILL)
                await self.wait_exit(KILL_WAIT_S)
        self.kill()

    def kill(self) -> None:
        """Kill whatever is left of its group, now, and let go of the pipes: nothing here waits."""
        if self._left:
            return  # the number of its group may be another's by now
        self._left = True
        self._signal(signal.SIGKILL)
        with contextlib.suppress(PermissionError):
            self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


@contextlib.asynccontextmanager
async def process_streams(process: ServerProcess) -> AsyncIterator[tuple[ReadStream, WriteStream]]:
    """Yield the SDK's streams of a running server; when the block ends, so does the server, in every case."""
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.read_stdout, to_session)
            tasks.start_soon(process.write_stdin, from_session)
            tasks.start_soon(process.read_stderr)
            tasks.start_soon(process.watch_exit, to_session)
            try:
                yield from_server, to_server
            finally:
                # Closing them frees the reader to drain what the server still writes.
                from_server.close()
                to_server.close()
                with anyio.CancelScope(shield=True):
                    await process.stop()
                tasks.cancel_scope.cancel()
    finally:
        # The shield does not hold against a loop that is shut down: this does, since it waits for nothing.
        process.kill()
        for stream in (to_session, from_server, to_server, from_session):
            stream.close()
