"""A short JSON answer of the gateway itself, such as a refusal."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Send


BEARER = "Bearer"


async def send_status(send: Send, status: int, text: str, *, challenge: str = "", retry: bool = False) -> None:
    """Send `{"status": text}` for 200, else `{"error": text}`.

    Args:
        challenge: the value of `WWW-Authenticate`, `BEARER` to ask for any token.
        retry: ask the client to come back in 5 seconds.
    """
    body = json.dumps({"status" if status == 200 else "error": text}).encode()
    headers = []
    if challenge:
        headers.append((b"www-authenticate", challenge.encode("latin-1")))
    if retry:
        headers.append((b"retry-after", b"5"))
    await send_json(send, status, body, headers)


async def send_json(send: Send, status: int, body: bytes, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send a body of JSON, with more headers."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
