"""Follows redirects only within a server's own origin, since requests have its headers and credentials."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2


def next_within_origin(response: httpx2.Response) -> httpx2.Request | None:
    """Return the request that follows a redirect; None if there is no redirect, or if it is not followed.

    The new request must have the same method and body. It goes to the same origin, or from `http` to `https` of one
    host on the default ports. Its address must have no user information, which would be sent as a credential.
    """
    following = response.next_request
    if following is None:
        return None
    sent, location = response.request, following.url
    brings_user = bool(location.userinfo) and location.userinfo != sent.url.userinfo
    if following.method != sent.method or brings_user or not _is_same_origin(sent.url, location):
        return None
    return following


def _is_same_origin(url: httpx2.URL, location: httpx2.URL) -> bool:
    if (url.scheme, url.host, url.port) == (location.scheme, location.host, location.port):
        return True
    is_upgrade = (url.scheme, location.scheme) == ("http", "https") and url.port is None and location.port is None
    return is_upgrade and url.host == location.host


@contextlib.asynccontextmanager
async def stream_within_origin(
    client: httpx2.AsyncClient, method: str, url: str, **options: Any
) -> AsyncIterator[httpx2.Response]:
    """Send a request and yield its response, after at most `client.max_redirects` redirects within the origin.

    If a redirect is not followed, yield it.
    """
    request = client.build_request(method, url, **options)
    for left in range(client.max_redirects, -1, -1):
        response = await client.send(request, stream=True, follow_redirects=False)
        following = next_within_origin(response) if left else None
        if following is None:
            break
        try:
            await response.aread()  # so that the connection can be used again
        finally:
            await response.aclose()
        request = following
    try:
        yield response
    finally:
        await response.aclose()
