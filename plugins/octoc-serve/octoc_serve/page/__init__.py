"""What people see of a gateway: a page within the scope of their token. Reads, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc_serve.door import Application, Door, Receive, Scope, Send


def routes(door: Door) -> Application:  # noqa: ARG001  # nothing is shown yet
    """Return what answers every path that is not MCP's or a probe's.

    The caller has refused foreign hosts and origins by then; who the visitor is, `door` tells.
    """

    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001  # as above
        body = b'{"error": "there is nothing here: MCP is at /mcp"}'
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 404, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return nothing
