"""Runs the SDK's OAuth providers step by step, with an HTTP client of their own, one flow at a time.

As the `auth` of the connection's client they would hold a lock during each call, ignore when a stored token expires,
and log the answers of an authorization server.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import warnings
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.exceptions import MCPDeprecationWarning

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc.plugin.toolkit import because, is_loopback, reason_of, redact
from octoc_transport_mcp.auth_settings import AuthSettings
from octoc_transport_mcp.auth_store import StoredLogin
from octoc_transport_mcp.http_bounds import BoundedTransport

MAX_BODY_BYTES = 1024 * 1024
"""Maximum bytes of an authorization server's answer."""
MAX_SECONDS = 30.0
_CODE = re.compile(r"[a-z_]{1,40}")
_RUNNING: ContextVar[bool] = ContextVar("octoc_oauth_running", default=False)


def _not_ours(_: logging.LogRecord) -> bool:
    return not _RUNNING.get()


# The SDK logs each refusal with its traceback, and quotes answers that may hold tokens. octoc's own flows report their
# failures instead; a host's own use of the SDK logs as before.
for _name in ("mcp.client.auth.oauth2", "mcp.client.auth.utils"):
    logging.getLogger(_name).addFilter(_not_ours)


class MemoryStorage:
    """The SDK's storage for one flow. `stored_of` reads the login to keep from the flow's context."""

    def __init__(self, tokens: OAuthToken | None = None, client: OAuthClientInformationFull | None = None) -> None:
        self._tokens = tokens
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class ClientMetadata(OAuthClientMetadata):
    """octoc's metadata as a client. It keeps configured scopes, which the SDK would replace by those of the server."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "scope" or not self.scope:
            super().__setattr__(name, value)


def client_credentials_provider(target: ServerTarget, settings: AuthSettings) -> ClientCredentialsOAuthProvider:
    """Return a provider that trades the configured id and secret for a token."""
    with warnings.catch_warnings():
        # Without `issuer` the server names the authorization server that gets the secret, as in clients without such a
        # setting; octoc's documentation recommends it.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        provider = ClientCredentialsOAuthProvider(
            server_url=target.url or "",
            storage=MemoryStorage(),
            client_id=settings.client_id or "",
            client_secret=settings.client_secret or "",
            token_endpoint_auth_method="client_secret_post"
            if settings.method == "client_secret_post"
            else "client_secret_basic",
            scope=settings.scopes,
            issuer=settings.issuer,
        )
    context = provider.context
    context.client_metadata = ClientMetadata.model_validate(context.client_metadata.model_dump())
    return provider


def refreshing_provider(target: ServerTarget, settings: AuthSettings, stored: StoredLogin) -> OAuthClientProvider:
    """Return a provider with a stored login, which it refreshes at the first request."""
    client = OAuthClientInformationFull.model_validate(stored.client or {"client_id": settings.client_id or ""})
    if settings.client_secret is not None:
        client.client_secret = settings.client_secret
    provider = OAuthClientProvider(
        target.url or "",
        ClientMetadata(redirect_uris=client.redirect_uris, scope=settings.scopes),
        MemoryStorage(OAuthToken.model_validate(stored.tokens), client),
    )
    context = provider.context
    context.token_expiry_time = 1.0
    if stored.metadata is not None:
        context.oauth_metadata = OAuthMetadata.model_validate(stored.metadata)
    if stored.resource is not None:
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(stored.resource)
    return provider


def stored_of(target: ServerTarget, settings: AuthSettings, provider: OAuthClientProvider) -> StoredLogin:
    """Return the login of a successful flow, without a configured secret."""
    context = provider.context
    assert context.current_tokens is not None  # noqa: S101  # a successful flow has a token
    client = None if context.client_info is None else context.client_info.model_dump(mode="json", exclude_none=True)
    if client is not None and settings.client_secret is not None:
        client.pop("client_secret", None)
    metadata = context.oauth_metadata
    parts = urlsplit(target.url or "")
    return StoredLogin(
        server=target.url or "",
        issuer=f"{parts.scheme}://{parts.netloc}" if metadata is None else str(metadata.issuer),
        tokens=context.current_tokens.model_dump(mode="json", exclude_none=True),
        expires_at=context.token_expiry_time,
        client=client,
        metadata=None if metadata is None else metadata.model_dump(mode="json", exclude_none=True),
        resource=None
        if context.protected_resource_metadata is None
        else context.protected_resource_metadata.model_dump(mode="json", exclude_none=True),
    )


async def drive(
    provider: httpx2.Auth, request: httpx2.Request, refusal: httpx2.Response | None, target: ServerTarget
) -> None:
    """Run a provider's flow until it would send `request` again with its token.

    Args:
        refusal: the server's answer to the request without a token; None for a flow that only refreshes.

    Raises: ConnectFailedError. Its text quotes only the error code of an authorization server.
    """
    flow = provider.async_auth_flow(request)
    limit = httpx2.Timeout(min(target.timeout_s, MAX_SECONDS))
    last: httpx2.Response | None = None
    transport = BoundedTransport(MAX_BODY_BYTES)
    async with httpx2.AsyncClient(transport=transport, timeout=limit, follow_redirects=False) as client:
        try:
            outgoing = await _step(flow, None)
            refused = False
            while True:
                if outgoing is not request:
                    last = await _send(client, outgoing, target)
                    outgoing = await _step(flow, last)
                elif refusal is None or refused:
                    return
                else:
                    refused = True
                    outgoing = await _step(flow, refusal)
        except ConnectFailedError:
            raise
        except httpx2.DecodingError as error:
            raise _failed(target, f"answered with {error}") from None
        except httpx2.HTTPError as error:
            raise _failed(target, f"could not be reached: {reason_of(error)}", permanent=False) from None
        except Exception as error:  # noqa: BLE001  # OAuthFlowError, and errors of pydantic and others for a malformed answer
            raise _failed(target, _why(error, last), permanent=True) from None
        finally:
            await flow.aclose()


async def _step(flow: Any, response: httpx2.Response | None) -> httpx2.Request:
    token = _RUNNING.set(True)
    try:
        outgoing: httpx2.Request = await flow.asend(response)
    finally:
        _RUNNING.reset(token)
    return outgoing


async def _send(client: httpx2.AsyncClient, request: httpx2.Request, target: ServerTarget) -> httpx2.Response:
    """Send a flow's own request, without the server's headers, and read a bounded answer."""
    url = request.url
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.host)):
        raise _failed(target, f"is at a plain `{url.scheme}` address, `{url.host}`: it takes `https`")
    request.headers["Accept-Encoding"] = "identity"
    response = await client.send(request)
    if request.method == "POST" and (
        response.is_server_error or response.status_code == httpx2.codes.TOO_MANY_REQUESTS
    ):
        # The SDK would treat this as a refusal, and forget the login.
        raise _failed(target, f"answered HTTP {response.status_code}", permanent=False)
    return response


def _why(error: Exception, last: httpx2.Response | None) -> str:
    if last is not None and last.status_code >= 400 and last.request.method == "POST":
        code = ""
        with contextlib.suppress(ValueError, TypeError, LookupError):
            code = str(json.loads(last.content)["error"])
        return f"refused: {f'`{code}`, ' if _CODE.fullmatch(code) else ''}HTTP {last.status_code}"
    if isinstance(error, OAuthFlowError) and (last is None or last.request.method != "POST"):
        return f"cannot be used{because(error)}"
    return "answered something that is not OAuth"


def _failed(target: ServerTarget, why: str, *, permanent: bool = True) -> ConnectFailedError:
    text = redact(f"the authorization server of `{target.name}` {why}", target.secrets)
    text = " ".join(text.split()).rstrip(".")[:400]
    return ConnectFailedError(text, kind="unauthorized" if permanent else "connect_failed", permanent=permanent)
