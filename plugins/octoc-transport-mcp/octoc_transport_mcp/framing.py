"""Lines out of bytes, in bounded memory: what is over the limit is dropped while it arrives, but for its ends."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

END_BYTES = 512
"""How much of both ends of a line is looked at, or kept when the line is dropped: a message's id is in one of them."""


@attrs.frozen(kw_only=True)
class DroppedLine:
    """A line that was longer than the limit: its first and last bytes, and its length in bytes."""

    head: bytes
    tail: bytes
    length: int


class LineFramer:
    """Splits a stream of bytes at newlines. Never holds more than `limit` bytes of a line that has not ended."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = bytearray()
        self._head = b""
        self._tail = b""
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | DroppedLine]:
        """Yield each line that ends in `chunk`, without its newline."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if not self._length and len(piece) <= self._limit:
                yield piece
            else:
                self._grow(piece)
                yield self._take()
        self._grow(rest)

    def finish(self) -> Iterator[bytes | DroppedLine]:
        """Yield what came after the last newline, if anything did: the stream has ended."""
        if self._length:
            yield self._take()

    def _grow(self, piece: bytes) -> None:
        dropping = self._length > self._limit
        self._length += len(piece)
        if dropping:
            self._tail = (self._tail + piece[-END_BYTES:])[-END_BYTES:]
        elif self._length > self._limit:
            self._head = (bytes(self._open[:END_BYTES]) + piece[:END_BYTES])[:END_BYTES]
            self._tail = (bytes(self._open[-END_BYTES:]) + piece[-END_BYTES:])[-END_BYTES:]
            self._open = bytearray()
        else:
            self._open += piece

    def _take(self) -> bytes | DroppedLine:
        length, self._length = self._length, 0
        if length > self._limit:
            return DroppedLine(head=self._head, tail=self._tail, length=length)
        line, self._open = bytes(self._open), bytearray()
        return line
