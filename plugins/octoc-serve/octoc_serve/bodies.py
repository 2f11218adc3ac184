"""What a client's message may be: its JSON elements are counted, and its numbers checked, before the SDK parses it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import attrs

from octoc.plugin.toolkit import LARGE_BYTES, excess, odd_number

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

_MAX_DIGITS = 18


@attrs.frozen
class Refusal:
    """Why a message is not passed on: the HTTP status, and a sentence for the client."""

    status: HTTPStatus
    reason: str


def refusal(body: bytes, max_elements: int) -> Refusal | None:
    """Return why a message is refused, None if it is not. Long ones are to be judged in a thread."""
    over = excess(body, max_elements)
    if over is not None:
        reason = f"a message has {over}, which is over the limit of this gateway"
        return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    number = odd_number(body)
    return None if number is None else Refusal(HTTPStatus.BAD_REQUEST, f"a message cannot be read: {number}")


async def bounded(scope: Scope, receive: Receive, max_bytes: int, max_elements: int) -> tuple[Receive, Refusal | None]:
    """Read a request's body. Return a `receive` that repeats it, and why it is refused or None.

    The SDK refuses a body of more than `max_bytes` by itself.
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
        why = await asyncio.to_thread(refusal, body, max_elements) if large else refusal(body, max_elements)
    messages.reverse()

    async def again() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return again, why
