"""Splits bytes into lines in bounded memory. A line over the limit is dropped while it arrives, except its ends."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

END_BYTES = 512
"""Bytes of each end of a line that are searched, and kept of a dropped line: one of them has the message's id."""


@attrs.frozen(kw_only=True)
class DroppedLine:
    """A line longer than the limit: its first and last bytes, and its length in bytes."""

    head: bytes
    tail: bytes
    length: int


class LineFramer:
    """Splits a stream of bytes at newlines. Holds at most `limit` bytes of an unfinished line."""

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
        """Yield the bytes after the last newline, if any, at the end of the stream."""
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
