"""Keeps the events of a session's broken streams, for a client that reconnects with `Last-Event-ID`.

Source: MCP 2025-11-25, Streamable HTTP, "Resumability and Redelivery".
"""

from __future__ import annotations

import itertools

import attrs
from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

MAX_BYTES = 256 * 1024
"""Maximum bytes of events that one session keeps; the oldest streams are dropped first."""


@attrs.define(eq=False)
class _Stream:
    number: int
    events: list[JSONRPCMessage] = attrs.field(factory=list)
    size: int = 0

    @property
    def last_id(self) -> str:
        return f"{self.number}-{len(self.events)}"


class EventHistory(EventStore):
    """The open event streams of one session. Messages of other streams get no id and are not kept."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._streams: dict[str, _Stream] = {}
        self._numbers = itertools.count(1)

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Open a stream if `message` is None, else keep the message if its stream is open. Returns the id or ""."""
        if message is None:
            self.forget(stream_id)
            self._streams[stream_id] = _Stream(next(self._numbers))
        stream = self._streams.get(stream_id)
        if stream is None:
            return ""
        if message is not None:
            stream.events.append(message)
            stream.size += len(message.model_dump_json(by_alias=True, exclude_unset=True))
            while sum(one.size for one in self._streams.values()) > self._max_bytes:
                del self._streams[next(iter(self._streams))]
        return stream.last_id

    def forget(self, stream_id: str) -> None:
        """Drop a stream that the client has read to its end."""
        self._streams.pop(stream_id, None)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str:
        """Send the later events of a stream and return its key; after an unknown id, the key of the session's own."""
        number, _, position = last_event_id.partition("-")
        if position.isascii() and position.isdigit():
            for key, stream in self._streams.items():
                if str(stream.number) == number:
                    for index in range(int(position), len(stream.events)):
                        await send_callback(EventMessage(stream.events[index], f"{number}-{index + 1}"))
                    return key
        return GET_STREAM_KEY
