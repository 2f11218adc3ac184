"""Cuts a stream of bytes into complete server-sent events, none longer than the limit."""

from __future__ import annotations

import attrs

_MAX_RETRY_DIGITS = 5
"""Longest `retry`: 100 s. The SDK's arithmetic overflows with a longer number."""


@attrs.frozen
class DroppedEvent:
    """The beginning of an event that was longer than the limit, and was dropped."""

    head: bytes


@attrs.frozen
class Event:
    """One event. `data` is its lines of data, joined; `resumable` is true if it has an id to resume from."""

    name: str
    data: bytes
    resumable: bool


class EventCutter:
    """Cuts pieces of a stream into complete events. Each ends with an empty line, and its line ends are LF.

    The rest of an event over the limit is skipped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._looked = 0
        self._carriage_return = False
        self._passing_over = False
        self.passed_over = 0
        """Number of skipped bytes of the current event over the limit."""

    def feed(self, piece: bytes) -> list[bytes | DroppedEvent]:
        """Return the events that `piece` completes, and once the event that it makes too long."""
        if self._carriage_return:
            piece = b"\r" + piece
        self._carriage_return = piece.endswith(b"\r")
        if self._carriage_return:
            piece = piece[:-1]
        self._buffer += piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[bytes | DroppedEvent] = []
        while (end := self._buffer.find(b"\n\n", self._looked)) >= 0:
            event = bytes(self._buffer[: end + 2])
            del self._buffer[: end + 2]
            self._looked = 0
            if self._passing_over:
                self._passing_over = False
            elif len(event) > self._limit:
                events.append(DroppedEvent(event))
            elif event.strip():
                events.append(_without_wild_retry(event))
        if self._passing_over:
            self.passed_over += max(0, len(self._buffer) - 1)
            del self._buffer[:-1]
        self._looked = max(0, len(self._buffer) - 1)
        if len(self._buffer) > self._limit:
            events.append(DroppedEvent(bytes(self._buffer)))
            del self._buffer[:-1]
            self._looked = 0
            self._passing_over = True
            self.passed_over = 0
        return events


def _without_wild_retry(event: bytes) -> bytes:
    if b"retry" not in event:
        return event
    lines = [line for line in event.split(b"\n") if not line.startswith(b"retry") or _sane(line)]
    return b"\n".join(lines)


def _sane(line: bytes) -> bool:
    number = line.partition(b":")[2].strip()
    return number.isdigit() and len(number) <= _MAX_RETRY_DIGITS


def parse_event(event: bytes) -> Event:
    """Return the fields of a complete event. Source: HTML, 9.2.6; comments and unknown fields are ignored."""
    name, data, resumable = "message", [], False
    for line in event.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data.append(value)
        elif field == b"id":
            resumable = bool(value)
    return Event(name, b"\n".join(data), resumable)
