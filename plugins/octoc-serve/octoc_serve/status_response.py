"""A short JSON answer of the gateway itself, such as a refusal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Send


async def send_status(send: Send, status: int, text: str, *, challenge: bool = False, retry: bool = False) -> None:
    """Send `{"status": text}` for 200, else `{"error": text}`.

    Args:
        challenge: ask for a bearer token.
        retry: ask the client to come back in 5 seconds.
    """
    body = json.dumps({"status" if status == 200 else "error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if challenge:
        headers.append((b"www-authenticate", b"Bearer"))
    if retry:
        headers.append((b"retry-after", b"5"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
