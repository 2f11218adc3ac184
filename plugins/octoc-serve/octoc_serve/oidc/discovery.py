"""Fetch a provider's keys: its metadata names their address. Source: OpenID Connect Discovery 1.0, RFC 8414."""

from __future__ import annotations

import asyncio
import functools
import json
import ssl
from collections.abc import Iterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from octoc.plugin.toolkit import is_loopback, reason_of
from octoc_serve.oidc.key_set import KeySet, key_set

if TYPE_CHECKING:
    from octoc.runtime import OidcProvider

FETCH_S = 5.0
"""Seconds for metadata and keys together."""
MAX_BYTES = 256 * 1024
_OK, _CLIENT_ERRORS = 200, range(400, 500)


class FetchError(Exception):
    """A provider's keys could not be fetched. The text says why, in words for a log."""


async def fetch_keys(provider: OidcProvider) -> KeySet:
    """Return the provider's keys as they are now, within `FETCH_S`. Raises: FetchError."""
    try:
        async with asyncio.timeout(FETCH_S), _client(provider.issuer) as client:
            where = provider.jwks_uri or await _jwks_uri(client, provider.issuer)
            status, text = await _get(client, where)
    except TimeoutError:
        raise FetchError(f"it did not answer within {FETCH_S:.0f} s") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise FetchError(reason_of(error)) from None
    if status != _OK:
        raise FetchError(f"it answered {status} where its keys are, expected {_OK}")
    try:
        return key_set(text, provider.algorithms)
    except ValueError as error:
        raise FetchError(str(error)) from None


def metadata_urls(issuer: str) -> Iterator[str]:
    """Yield where a provider's metadata may be, the most usual place first."""
    parts = urlsplit(issuer)
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{base}{path}/.well-known/openid-configuration"
    yield f"{base}/.well-known/oauth-authorization-server{path}"
    if path:
        yield f"{base}/.well-known/openid-configuration{path}"


async def _jwks_uri(client: httpx2.AsyncClient, issuer: str) -> str:
    status = 0
    for url in metadata_urls(issuer):
        status, text = await _get(client, url)
        if status == _OK:
            return _address_in(text, issuer)
        if status not in _CLIENT_ERRORS:
            break
    raise FetchError(f"it answered {status} where its metadata should be, expected {_OK}; redirects are not followed")


def _address_in(text: bytes, issuer: str) -> str:
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError):
        raise FetchError("its metadata is not JSON") from None
    if not isinstance(metadata, dict) or metadata.get("issuer") != issuer:
        raise FetchError("its metadata is of another issuer: the issuer in octoc.toml must be the same text")
    address = metadata.get("jwks_uri")
    if not isinstance(address, str):
        raise FetchError("its metadata has no `jwks_uri`")
    try:
        parts = urlsplit(address)
        is_safe = parts.scheme == "https" or (
            parts.scheme == "http"
            and is_loopback(parts.hostname or "")
            and is_loopback(urlsplit(issuer).hostname or "")
        )
    except ValueError:
        is_safe = False
    if not is_safe:
        raise FetchError("its metadata has a `jwks_uri` that is not `https`")
    return address


@functools.cache
def _tls() -> ssl.SSLContext:
    # Loading the certificates of authorities takes longer than a fetch, and holds up all calls meanwhile.
    return httpx2.create_ssl_context()


def _client(issuer: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        timeout=None,  # all requests together have a limit
        follow_redirects=False,
        verify=_tls(),
        trust_env=not is_loopback(urlsplit(issuer).hostname or ""),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"accept": "application/json"},
    )


async def _get(client: httpx2.AsyncClient, url: str) -> tuple[int, bytes]:
    """Return status and body. Raises: FetchError if the body is too long, and as httpx2 does."""
    async with client.stream("GET", url) as response:
        text = b""
        async for chunk in response.aiter_bytes():
            text += chunk
            if len(text) > MAX_BYTES:
                raise FetchError(f"it sent more than {MAX_BYTES} bytes")
        return response.status_code, text
