"""`octoc auth login|status|logout`: a person allows octoc, once and in a browser, to act for them at a server."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Literal
from urllib.parse import urlsplit

import attrs
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull

from octoc.plugin import ConnectFailedError, LoginState, ServerTarget
from octoc.plugin.toolkit import reason_of
from octoc_transport_mcp.auth import store_of
from octoc_transport_mcp.auth_callback import Callback, listening
from octoc_transport_mcp.auth_sdk import ClientMetadata, MemoryStorage, drive, stored_of
from octoc_transport_mcp.auth_settings import DEFAULT_PORT, AuthSettings, refused, settings_of
from octoc_transport_mcp.auth_store import StoredLogin
from octoc_transport_mcp.failures import redact
from octoc_transport_mcp.http_logs import quiet_addresses

LOGIN_S = 300.0
"""How long a person may take; the same as in Octo."""
_PROTOCOL = "2025-06-18"
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": _PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "octoc", "version": "0"},
    },
}


@attrs.frozen
class McpLogin:
    """Logins to MCP servers by OAuth. See `octoc.plugin.protocols.Login`."""

    async def login(
        self, target: ServerTarget, show: Callable[[str], object], timeout_s: float = LOGIN_S
    ) -> LoginState:
        """Log in; `show` gets the address that a person has to open. Raises: ConnectFailedError."""
        settings = _oauth(target)
        earlier = store_of(target, settings).read()
        if earlier is not None and earlier.needed_scope:
            granted = union_scopes(settings.scopes, earlier.tokens.get("scope"))
            settings = attrs.evolve(settings, scopes=union_scopes(granted, earlier.needed_scope))
        try:
            async with asyncio.timeout(timeout_s), _callback(target, settings) as (callback, redirect):
                provider = _provider(target, settings, redirect, callback, show)
                request = httpx2.Request("POST", target.url or "", headers={"MCP-Protocol-Version": _PROTOCOL})
                await drive(provider, request, await _refusal(target), target)
        except TimeoutError:
            raise ConnectFailedError(f"the login to `{target.name}` was not completed within {timeout_s:g} s") from None
        stored = stored_of(target, settings, provider)
        store_of(target, settings).write(stored)
        return _state(stored)

    def status(self, target: ServerTarget) -> LoginState:
        """Return the state of the stored login, without a request. Raises: ConnectFailedError."""
        stored = store_of(target, _oauth(target)).read()
        return LoginState(state="none") if stored is None else _state(stored)

    def logout(self, target: ServerTarget) -> bool:
        """Delete a login; return whether there was one. Raises: ConnectFailedError."""
        return store_of(target, _oauth(target)).delete()


def _oauth(target: ServerTarget) -> AuthSettings:
    settings = settings_of(target)
    if settings.kind not in {"oauth", "none"}:
        raise refused(target, f"is `{settings.kind}`, which needs no login")
    if any(name.lower() == "authorization" for name in target.headers):
        raise ConnectFailedError(f"`{target.name}` has a header `Authorization`, so it needs no login", permanent=True)
    return settings


def _state(stored: StoredLogin) -> LoginState:
    state: Literal["valid", "refreshable", "expired"] = "refreshable" if stored.can_refresh else "expired"
    state = "valid" if stored.is_current() else state
    scopes = str(stored.tokens.get("scope") or "").split()
    return LoginState(state=state, expires_at=stored.expires_at, issuer=stored.issuer, scopes=tuple(scopes))


@contextlib.asynccontextmanager
async def _callback(target: ServerTarget, settings: AuthSettings) -> AsyncIterator[tuple[Callback, str]]:
    """Yield a listener and its redirect URI. If the default port is taken, use another one."""
    chosen = settings.redirect_uri or f"http://localhost:{DEFAULT_PORT}/callback"
    parts = urlsplit(chosen)
    async with contextlib.AsyncExitStack() as stack:
        try:
            callback, port = await stack.enter_async_context(
                listening(parts.hostname or "", parts.port or 0, parts.path)
            )
        except OSError as error:
            # The authorization server knows only one address of a client that was registered beforehand.
            if settings.redirect_uri is not None or settings.client_id is not None:
                raise refused(target, f"needs port {parts.port} for the login: {error.strerror}") from None
            callback, port = await stack.enter_async_context(listening(parts.hostname or "", 0, parts.path))
        yield callback, chosen if port == parts.port else f"http://{parts.hostname}:{port}{parts.path}"


def _provider(
    target: ServerTarget, settings: AuthSettings, redirect: str, callback: Callback, show: Callable[[str], object]
) -> OAuthClientProvider:
    async def redirected(url: str) -> None:
        callback.expect(url)
        shown = show(url)
        if inspect.isawaitable(shown):
            await shown

    async def answered() -> AuthorizationCodeResult:
        return await callback.answer()

    client_id = settings.client_id
    by_url = client_id if client_id is not None and client_id.startswith("https://") else None
    method = settings.method or ("client_secret_basic" if settings.client_secret else "none")
    known = None
    if client_id is not None and by_url is None:
        known = OAuthClientInformationFull.model_validate({
            "client_id": client_id,
            "client_secret": settings.client_secret,
            "redirect_uris": [redirect],
            "token_endpoint_auth_method": method,
            "issuer": settings.issuer,
        })  # fmt: skip
    metadata = ClientMetadata.model_validate({
        "client_name": "octoc",
        "redirect_uris": [redirect],
        "scope": settings.scopes,
        "token_endpoint_auth_method": method,
    })  # fmt: skip
    return OAuthClientProvider(
        target.url or "", metadata, MemoryStorage(client=known), redirected, answered, client_metadata_url=by_url
    )


async def _refusal(target: ServerTarget) -> httpx2.Response:
    """Ask the server without a credential; its refusal has the address for the login. Raises: ConnectFailedError."""
    hello = httpx2.Request(
        "POST" if target.transport == "http" else "GET",
        target.url or "",
        headers={"Accept": "application/json, text/event-stream", **target.headers},
        json=_HELLO if target.transport == "http" else None,
    )
    try:
        with quiet_addresses(target):
            async with httpx2.AsyncClient(timeout=target.timeout_s, follow_redirects=False) as client:
                response = await client.send(hello, stream=True)
                await response.aclose()
    except httpx2.HTTPError as error:
        why = redact(reason_of(error), target)
        raise ConnectFailedError(
            f"`{target.name}` could not be reached ({why}): look at its `url`, and whether it runs"
        ) from None
    # A server that checks credentials only at a call is asked for its metadata too.
    headers = response.headers if response.status_code == httpx2.codes.UNAUTHORIZED else None
    return httpx2.Response(httpx2.codes.UNAUTHORIZED, headers=headers, request=hello)
