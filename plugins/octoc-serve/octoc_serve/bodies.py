"""The limits of a client's message: its JSON elements are counted before the SDK parses it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from octoc.json_limits import LARGE_BYTES, excess

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

_MAX_DIGITS = 18


async def bounded(scope: Scope, receive: Receive, max_bytes: int, max_elements: int) -> tuple[Receive, str | None]:
    """Read a request's body and return what gives it again, and why it is refused, None if it is not.

    A body of more than `max_bytes` is left to the SDK, which has its own answer.
    """
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not announced.isdigit() or len(announced) > _MAX_DIGITS or int(announced) > max_bytes:
        return receive, None
    messages: list[MutableMapping[str, Any]] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False) or size > max_bytes:
            break
    why = None
    if size <= max_bytes:
        body = b"".join(message.get("body", b"") for message in messages)
        large = len(body) > LARGE_BYTES
        why = await asyncio.to_thread(excess, body, max_elements) if large else excess(body, max_elements)
    messages.reverse()

    async def again() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return again, None if why is None else f"a message has {why}, which is over the limit of this gateway"
