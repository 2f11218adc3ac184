"""A server's pipes as the SDK's message streams, without a task: callbacks fill one, calls write to the other.

Both are bounded: a server that writes too fast has to wait, and a call waits for a server that does not read.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from octoc_transport_mcp.claims import ATTEMPT, REQUESTS
from octoc_transport_mcp.framing import DroppedLine, LineFramer
from octoc_transport_mcp.messages import LineFault, read_aside
from octoc_transport_mcp.pending_requests import AdmittedMessage, PendingRequests, cancelled_id

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_QUEUED = 256
MAX_QUEUED_BYTES = 1024 * 1024
"""Queued messages and bytes after which a server has to wait until they are read."""
FEW = 8
"""Queued messages after which only the newest of several progress notifications is kept."""
LINES_A_TURN = 500
"""Lines handled before other tasks run: one read may bring 256 KiB of empty lines."""
IN_A_ROW = 8
"""Messages read before other tasks run."""


class Throttle(Protocol):
    """Stops and continues the reading of a pipe."""

    def __call__(self, *, pause: bool) -> None: ...


class _Stream:
    """The methods that the SDK needs of both streams."""

    async def aclose(self) -> None:
        raise AssertionError("overridden by both streams")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class FromServer(_Stream):
    """The server's messages. `feed` gets its bytes; `throttle` pauses them."""

    def __init__(self, pending: PendingRequests, limit: int, throttle: Throttle) -> None:
        self._pending = pending
        self._framer = LineFramer(limit)
        self._backlog: deque[Iterator[bytes | DroppedLine]] = deque()
        self._later: asyncio.Handle | None = None
        self._throttle = throttle
        self._throttled = False
        self._queue: deque[AdmittedMessage] = deque()
        self._queued_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._closed = False
        self._row = 0

    def feed(self, chunk: bytes) -> None:
        """Handle bytes of the server; after the end, or once closed, they are dropped."""
        if not (self._ended or self._closed):
            self._backlog.append(self._framer.feed(chunk))
            if self._later is None:
                self._go_on()
            self._queued_bytes += len(chunk) if self._queue else 0
            if not self._throttled and (
                self._later is not None or len(self._queue) > MAX_QUEUED or self._queued_bytes > MAX_QUEUED_BYTES
            ):
                self._throttled = True
                self._throttle(pause=True)

    def end(self) -> None:
        """Note the end of the bytes."""
        if not self._ended:
            while self._take(LINES_A_TURN):
                pass
            for line in self._framer.finish():
                self._queue.extend(self._pending.admit_last(line))
            self._ended = True
            self._wake()

    def push(self, messages: Iterable[AdmittedMessage]) -> None:
        """Add messages that the server did not send."""
        self._queue.extend(messages)
        self._wake()

    def _go_on(self) -> None:
        """Handle the next lines, and schedule the others for a later turn of the loop."""
        behind = not self._closed and self._take(LINES_A_TURN)
        self._later = asyncio.get_running_loop().call_soon(self._go_on) if behind else None
        if not behind and self._waiter is not None:
            self._unthrottle()

    def _take(self, most: int) -> bool:
        """Handle at most `most` lines; return whether there may be more."""
        for _ in range(most):
            line = self._next_line()
            if line is None:
                break
            for admitted in self._pending.admit(line):
                queued = self._queue
                if (
                    admitted.level is not None
                    and len(queued) > (0 if admitted.level.endswith("list_changed") else FEW)
                    and queued[-1].level == admitted.level
                ):
                    queued[-1] = admitted
                else:
                    queued.append(admitted)
        if self._queue:
            self._wake()
        return bool(self._backlog)

    def _next_line(self) -> bytes | DroppedLine | None:
        while self._backlog:
            line = next(self._backlog[0], None)
            if line is not None:
                return line
            self._backlog.popleft()
        return None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises: anyio.EndOfStream."""
        self._row += 1
        if self._row >= IN_A_ROW:
            self._row = 0
            await asyncio.sleep(0)
        while True:
            while not self._queue:
                await self._wait()
            admitted = self._queue.popleft()
            self._pending.note(admitted)
            if admitted.max_elements is not None:
                result = await read_aside(admitted.line, admitted.max_elements)
                self._queue.extendleft(reversed(self._pending.settle(admitted.line, result)))
                continue
            message = self._pending.read(admitted)
            if message is not None:
                return message

    async def _wait(self) -> None:
        self._row = 0
        self._queued_bytes = 0
        if self._ended or self._closed:
            raise anyio.EndOfStream
        self._unthrottle()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _unthrottle(self) -> None:
        if self._throttled and self._later is None:
            self._throttled = False
            self._throttle(pause=False)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Drop all further bytes: a server that still writes must not block while it ends."""
        self._closed = True
        self._queue.clear()
        self._backlog.clear()
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._unthrottle()
        self._wake()


class ToServer(_Stream):
    """Messages to the server, written to its stdin at once, or when it has read the earlier ones."""

    def __init__(
        self, stdin: asyncio.WriteTransport, pending: PendingRequests, answers: FromServer, probe_s: float
    ) -> None:
        self._stdin = stdin
        self._pending = pending
        self._answers = answers
        self._probe_s = probe_s
        self._room = asyncio.Event()
        self._room.set()
        self._probe: asyncio.TimerHandle | None = None
        self.lost = False

    def pause(self) -> None:
        """Note that the server has not read the written bytes."""
        self._room.clear()

    def resume(self) -> None:
        """Note that the server has read the written bytes, or is gone."""
        self._room.set()

    async def send(self, item: SessionMessage) -> None:
        """Write a message. A cancellation never waits. Raises: anyio.BrokenResourceError, if the server is gone."""
        message = item.message
        given_up = cancelled_id(message) if isinstance(message, mcp_types.JSONRPCNotification) else None
        if given_up is None:
            while not (self._room.is_set() or self.lost):
                await self._room.wait()
        elif given_up not in self._pending.requests:
            return  # already answered, or never written
        if self.lost or self._stdin.is_closing():
            raise anyio.BrokenResourceError
        self._stdin.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        self._pending.note_sent(message)
        if isinstance(message, mcp_types.JSONRPCRequest):
            if message.method in REQUESTS:
                attempt = ATTEMPT.get()
                if attempt is not None:
                    attempt.written = True
            elif message.method == "server/discover":
                self._expect(message)

    def _expect(self, probe: mcp_types.JSONRPCRequest) -> None:
        """Treat silence as an answer: a server of the older era may ignore an unknown request."""

        def give_up() -> None:
            fault = LineFault(kind="timeout", reason="no answer")
            self._answers.push(self._pending.refuse(probe.id, mcp_types.METHOD_NOT_FOUND, fault))

        self._probe = asyncio.get_running_loop().call_later(self._probe_s, give_up)

    async def aclose(self) -> None:
        """Stop writing."""
        self.lost = True
        self._room.set()
        if self._probe is not None:
            self._probe.cancel()
        with contextlib.suppress(OSError):
            self._stdin.close()
