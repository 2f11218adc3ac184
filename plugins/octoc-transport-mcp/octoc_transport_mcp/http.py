"""Servers with a URL: Streamable HTTP and the older SSE, as message streams of the SDK."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.streamable_http import streamable_http_client

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc.plugin.toolkit import is_loopback
from octoc_transport_mcp.http_bounds import DEFAULT_MAX_BODY_BYTES, BoundedTransport
from octoc_transport_mcp.http_client import GuardedClient
from octoc_transport_mcp.http_logs import quiet_addresses
from octoc_transport_mcp.http_sse import EventLink

if TYPE_CHECKING:
    from octoc_transport_mcp.http_faults import HttpState

MAX_REDIRECTS = 5
"""Redirects followed for one request, each on the server's own origin."""


def check_url(target: ServerTarget) -> None:
    """Check that a target's URL may be connected to. Raises: ConnectFailedError, permanent."""
    try:
        parts = urlsplit(target.url or "")
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in {"http", "https"} or not host:
        raise ConnectFailedError(
            f"the `url` of `{target.name}` does not start with `http://` or `https://` and a host",
            permanent=True,
        )
    check_header_names(target)
    if target.production and parts.scheme == "http" and not is_loopback(host):
        raise ConnectFailedError(
            f"`{target.name}` is at a plain `http` address beyond this machine, which production mode refuses: "
            "use `https`",
            permanent=True,
        )


def check_header_names(target: ServerTarget) -> None:
    """Check that no two headers differ only in case. Raises: ConnectFailedError, permanent: servers may read either."""
    names: dict[str, str] = {}
    for name in target.headers:
        other = names.setdefault(name.lower(), name)
        if other != name:
            raise ConnectFailedError(
                f"`{target.name}` has two headers of one name, `{other}` and `{name}`: keep one", permanent=True
            )


@contextlib.asynccontextmanager
async def http_streams(target: ServerTarget, state: HttpState) -> AsyncIterator[Any]:
    """Yield the streams of a Streamable HTTP server. Raises: ConnectFailedError, HttpFaultError in a group."""
    limit = _limit(target)
    with quiet_addresses(target):
        async with (
            GuardedClient(state, limit, **_options(target, state)) as client,
            streamable_http_client(target.url or "", http_client=client, max_sse_event_size=2 * limit) as streams,
        ):
            state.client = client
            yield streams


@contextlib.asynccontextmanager
async def sse_streams(target: ServerTarget, state: HttpState) -> AsyncIterator[Any]:
    """Yield the streams of an SSE server. Raises: ConnectFailedError, HttpFaultError."""
    with quiet_addresses(target):
        async with (
            httpx2.AsyncClient(**_options(target, state)) as client,
            EventLink(client, state, _limit(target)).streams() as streams,
        ):
            yield streams


def _limit(target: ServerTarget) -> int:
    return target.max_body_bytes or DEFAULT_MAX_BODY_BYTES


def _options(target: ServerTarget, state: HttpState) -> dict[str, Any]:
    from octoc_transport_mcp.auth import auth_for

    state.auth = auth_for(target)
    return {
        "transport": BoundedTransport(_limit(target)),
        "headers": {"accept-encoding": "identity", **target.headers},
        "auth": state.auth,
        # The caller limits the time of a call; a stream without calls may be silent for any time.
        "timeout": httpx2.Timeout(None, connect=target.timeout_s),
        "follow_redirects": False,
        "max_redirects": MAX_REDIRECTS,
    }
