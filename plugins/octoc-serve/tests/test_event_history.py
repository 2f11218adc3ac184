"""Streams of events that break: a client reads on where it was, and what it has read is not kept."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.streamable_http import GET_STREAM_KEY, EventMessage
from mcp_types import JSONRPCNotification

from octoc_serve.event_history import EventHistory


def message(words: str) -> JSONRPCNotification:
    """Return a notification."""
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": words})


def run(scenario: Any) -> Any:
    """Run a coroutine."""
    return asyncio.run(scenario)


async def replayed(history: EventHistory, last: str) -> tuple[str, list[tuple[str, str | None]]]:
    """Return the stream that a client resumes, and the texts and ids that it gets."""
    events: list[tuple[str, str | None]] = []

    async def send(event: EventMessage) -> None:
        params: Any = getattr(event.message, "params", None)
        events.append((params["data"], event.event_id))

    return await history.replay_events_after(last, send), events


def test_a_client_gets_the_events_after_its_last_one() -> None:
    """Events have the ids that they were sent with, and those of other streams do not come."""

    async def scenario() -> None:
        history = EventHistory()
        primed = await history.store_event("7", None)
        other = await history.store_event("8", None)
        ids = [await history.store_event("7", message(words)) for words in "abc"]
        await history.store_event("8", message("x"))
        assert await replayed(history, primed) == ("7", list(zip("abc", ids, strict=True)))
        assert await replayed(history, ids[1]) == ("7", [("c", ids[2])])
        assert (await replayed(history, other))[0] == "8"

    run(scenario())


def test_only_open_streams_are_kept() -> None:
    """A message without an open stream has no id; after an end or an unknown id the session's own stream goes on."""

    async def scenario() -> None:
        history = EventHistory()
        assert await history.store_event("7", message("a")) == ""
        primed = await history.store_event("7", None)
        history.forget("7")
        for last in (primed, "", "7", "1-", "1-x", "-", "9-0", "1-99"):
            assert await replayed(history, last) == (GET_STREAM_KEY, []), last

    run(scenario())


def test_the_bytes_of_a_session_are_bounded() -> None:
    """The oldest stream goes first; one that is too long by itself goes, too."""

    async def scenario() -> None:
        history = EventHistory(max_bytes=400)
        old, new = await history.store_event("old", None), await history.store_event("new", None)
        await history.store_event("old", message("x" * 200))
        await history.store_event("new", message("y" * 200))
        assert (await replayed(history, old))[0] == GET_STREAM_KEY
        assert (await replayed(history, new))[0] == "new"
        await history.store_event("new", message("z" * 400))
        assert (await replayed(history, new))[0] == GET_STREAM_KEY

    run(scenario())
