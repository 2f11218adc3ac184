"""Servers behind a URL: Streamable HTTP and the older SSE, as the SDK's message streams."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from octoc.plugin.protocols import ServerTarget


class LastStatus:
    """The last HTTP status that refused a request: the SDK keeps it to itself, and a user needs it (401, 403, 502)."""

    def __init__(self) -> None:
        self.code: int | None = None

    async def note(self, response: httpx2.Response) -> None:
        """Keep the response's status when it is a refusal, else forget the one before."""
        if response.status_code == 405 and response.request.method == "GET":
            return  # the stream of Streamable HTTP that a server need not have
        self.code = response.status_code if response.status_code >= 400 else None


@contextlib.asynccontextmanager
async def http_streams(target: ServerTarget, status: LastStatus) -> AsyncIterator[Any]:
    """Yield the streams of a Streamable HTTP server."""
    async with (
        _client(dict(target.headers), status=status) as client,
        streamable_http_client(target.url or "", http_client=client) as streams,
    ):
        yield streams


@contextlib.asynccontextmanager
async def sse_streams(target: ServerTarget, status: LastStatus) -> AsyncIterator[Any]:
    """Yield the streams of an SSE server."""

    def factory(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _client(headers, timeout, auth, status=status)

    # A call's own time-out is the caller's; the stream itself may be silent for as long as nobody calls.
    async with sse_client(
        target.url or "",
        headers=dict(target.headers),
        timeout=target.timeout_s,
        sse_read_timeout=_SILENCE_S,
        httpx_client_factory=factory,
    ) as streams:
        yield streams


_SILENCE_S = 24 * 3600.0


def _client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    *,
    status: LastStatus,
) -> httpx2.AsyncClient:
    client = create_mcp_http_client(headers=headers, timeout=timeout, auth=auth)
    client.event_hooks = {"response": [status.note]}
    return client
