"""Credentials of HTTP servers: headers with references, static bearers, client credentials, and stored logins.

Nothing here opens a browser or waits for a person: `octoc auth login` in `auth_login` does.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from http import HTTPStatus
from typing import Protocol

import attrs
import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth, union_scopes

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc_transport_mcp.auth_sdk import client_credentials_provider, drive, refreshing_provider, stored_of
from octoc_transport_mcp.auth_settings import AuthSettings, refused, settings_of
from octoc_transport_mcp.auth_store import Store, StoredLogin

logger = logging.getLogger("octoc.transport")

EXPIRY_MARGIN_S = 10.0
"""A token that expires within this time is replaced before it is sent."""

_SCOPE = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
"""RFC 6749, section 3.3."""

Headers = Mapping[str, str]


def auth_for(target: ServerTarget) -> ServerAuth | None:
    """Return what signs the requests to a target, or None if nothing does.

    A server without `auth` is called with its stored login, if there is one. Raises: ConnectFailedError before anything
    is sent, if `auth` cannot be understood or a needed login is missing.
    """
    settings = settings_of(target)
    stored = store_of(target, settings).read() if settings.kind in {"none", "oauth"} else None
    has_header = any(name.lower() == "authorization" for name in target.headers)
    if settings.kind == "none" and (has_header or stored is None):
        if target.renew is None or not target.headers or not target.secrets:
            return None
        return ServerAuth(target, RenewedHeaders(target, lambda current: dict(current.headers)))
    if has_header:
        raise refused(target, "stands beside a header `Authorization`: keep one of them")
    if settings.kind == "bearer":
        return ServerAuth(target, RenewedHeaders(target, lambda current: _bearer(settings_of(current).token)))
    if settings.kind == "client_credentials":
        return ServerAuth(target, ClientCredentials(target, settings))
    if stored is None or not (stored.is_current() or stored.can_refresh):
        why = "there is no login to" if stored is None else "the login has expired at"
        raise ConnectFailedError(
            f"{why} `{target.name}`: run `octoc auth login {target.name}`", kind="unauthorized", permanent=True
        )
    return ServerAuth(target, PersonLogin(target, settings, stored))


class CredentialSource(Protocol):
    """Source of credentials. `refusal` says why it has no valid one; `secrets` are the credentials it obtained."""

    refusal: str
    secrets: set[str]

    async def headers(self) -> Headers:
        """Return the headers to send; empty to send none. Raises: httpx2.HTTPError."""
        ...

    async def other(self, used: Headers, request: httpx2.Request, answer: httpx2.Response) -> Headers:
        """Return the headers to send after the server refused `used`. Raises: httpx2.HTTPError."""
        ...


class ServerAuth(httpx2.Auth):
    """Signs requests to the target's own origin, and to no other.

    A 401 says that the server did not execute the request, so any request may be sent again after it.
    """

    def __init__(self, target: ServerTarget, source: CredentialSource) -> None:
        self._origin = _origin(httpx2.URL(target.url or ""))
        self._source = source

    @property
    def refusal(self) -> str:
        """Why there is no better credential after a 401; empty if unknown."""
        return self._source.refusal

    @property
    def secrets(self) -> frozenset[str]:
        """The credentials obtained besides the target's own `secrets`; no message may show one."""
        return frozenset(self._source.secrets)

    def needed_scope(self, answer: httpx2.Response) -> str:
        """Return the scope that a refusal asks for and that the next login requests; empty if no login helps."""
        return _challenged_scope(answer) if isinstance(self._source, PersonLogin) else ""

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with a credential; after a refusal send it once more if another credential exists."""
        if _origin(request.url) != self._origin:
            yield request
            return
        used = await self._source.headers()
        _sign(request, used)
        answer = yield request
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            other = await self._source.other(used, request, answer)
            if other and other != used:
                _sign(request, other)
                answer = yield request
        if isinstance(self._source, PersonLogin) and (scope := _challenged_scope(answer)):
            await self._source.need(scope)

    def sync_auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Raises: RuntimeError. Only an asynchronous client can wait for a credential."""
        raise RuntimeError(f"a request to {request.url.host} can only be signed in an asynchronous client")


class RenewedHeaders:
    """Headers whose values may be references. After a refusal the references are resolved again."""

    def __init__(self, target: ServerTarget, headers_of: Callable[[ServerTarget], Headers]) -> None:
        self._target = target
        self._headers_of = headers_of
        self._headers = headers_of(target)
        self._lock = asyncio.Lock()
        self.refusal = ""
        self.secrets = _token_in(target)

    async def headers(self) -> Headers:
        return self._headers

    async def other(self, used: Headers, request: httpx2.Request, answer: httpx2.Response) -> Headers:
        async with self._lock:  # another call may have resolved them meanwhile
            if self._headers == used and self._target.renew is not None:
                renewed = await self._target.renew()
                if renewed is not None and (headers := self._headers_of(renewed)) != used:
                    self._headers = headers
                    self.secrets.update(renewed.secrets, _token_in(renewed))
        return self._headers


class ClientCredentials:
    """A token for an id and a secret, requested after the server's first 401 and kept in memory until it expires.

    If the authorization server refuses the id and the secret, they are resolved again, once per call.
    """

    def __init__(self, target: ServerTarget, settings: AuthSettings) -> None:
        self._target = target
        self._settings = settings
        self._token: str | None = None
        self._expires_at: float | None = None
        self._lock = asyncio.Lock()
        self.refusal = ""
        self.secrets: set[str] = {settings.client_secret or ""}

    async def headers(self) -> Headers:
        if self._expires_at is not None and time.time() >= self._expires_at - EXPIRY_MARGIN_S:
            self._token = None
        return _bearer(self._token)

    async def other(self, used: Headers, request: httpx2.Request, answer: httpx2.Response) -> Headers:
        async with self._lock:
            if self._token is None or _bearer(self._token) == used:
                self._token = None
                if not await self._trade(request, answer) and self.refusal and await self._renew():
                    await self._trade(request, answer)
            return _bearer(self._token)

    async def _trade(self, request: httpx2.Request, answer: httpx2.Response) -> bool:
        """Ask the authorization server for a token, and return whether it gave one. Raises: httpx2.ConnectError."""
        provider = client_credentials_provider(self._target, self._settings)
        succeeded = await _run(self, provider, _copy(request), answer, self._target)
        if not succeeded or provider.context.current_tokens is None:
            return False
        self._token = provider.context.current_tokens.access_token
        self._expires_at = provider.context.token_expiry_time
        _learn(self, self._target, self._token)
        return True

    async def _renew(self) -> bool:
        """Resolve the id and the secret again, and return whether they changed."""
        renewed = await _renewed(self, self._target, self._settings)
        if renewed is None:
            return False
        self._target, self._settings = renewed
        return True


class PersonLogin:
    """A login from `octoc auth login`: refreshed when it expires, and read again when its file changed.

    If the authorization server refuses a configured client secret, the secret is resolved again, once per call.
    """

    def __init__(self, target: ServerTarget, settings: AuthSettings, stored: StoredLogin) -> None:
        self._target = target
        self._settings = settings
        self._store = store_of(target, settings)
        self._lock = asyncio.Lock()
        self.refusal = ""
        self.secrets: set[str] = set()
        self._stored = stored
        self._take(stored)

    async def headers(self) -> Headers:
        if not self._is_current(self._stored):
            async with self._lock:
                await self._renew()
        return self._sendable()

    async def other(self, used: Headers, request: httpx2.Request, answer: httpx2.Response) -> Headers:
        async with self._lock:
            access = self._access()
            if _bearer(access) == used:
                await self._renew(refused=access)
        return self._sendable()

    async def need(self, scope: str) -> None:
        """Record a scope for the next login to ask for."""
        async with self._lock:
            login = self._store.read()
            needed = None if login is None else union_scopes(login.needed_scope, scope)
            if login is not None and needed and needed != login.needed_scope:
                self._keep(attrs.evolve(login, needed_scope=needed))

    async def _renew(self, refused: str | None = None) -> None:
        """Use a login that another process made or refreshed meanwhile, else refresh this one."""
        login = self._store.read()
        if login is None:
            self.refusal = "the login is gone"
            self._stored = attrs.evolve(self._stored, expires_at=0.0)
            return
        self._take(login)
        if self._is_current(login) and login.tokens["access_token"] != refused:
            return
        if not login.can_refresh:
            self.refusal = "the login has expired"
            self._stored = attrs.evolve(login, expires_at=0.0)
            return
        if await self._refresh(login):
            return
        if self._settings.client_secret is not None:
            renewed = await _renewed(self, self._target, self._settings)
            if renewed is not None:
                self._target, self._settings = renewed
                if await self._refresh(login):
                    return
        self.refusal = self.refusal or "the login was revoked, or has expired"
        after = self._store.read()  # another process may have used the refresh token first, and got the next one
        if after is not None and after.tokens["access_token"] != login.tokens["access_token"]:
            self._take(after)
        else:
            self._stored = attrs.evolve(login, expires_at=0.0)

    async def _refresh(self, login: StoredLogin) -> bool:
        """Ask the authorization server for new tokens, and return whether it gave them. Raises: httpx2.ConnectError."""
        provider = refreshing_provider(self._target, self._settings, login)
        request = httpx2.Request("POST", self._target.url or "")
        if not await _run(self, provider, request, None, self._target) or not provider.context.is_token_valid():
            return False
        self._take(attrs.evolve(stored_of(self._target, self._settings, provider), needed_scope=login.needed_scope))
        self._keep(self._stored)
        return True

    def _keep(self, login: StoredLogin) -> None:
        try:
            self._store.write(login)
        except OSError as error:
            logger.warning("the login of `%s` could not be stored: %s", self._target.name, error.strerror)

    def _take(self, stored: StoredLogin) -> None:
        self._stored = stored
        self.refusal = ""
        secret = (stored.client or {}).get("client_secret")
        self.secrets |= {
            value for value in (*map(stored.tokens.get, ("access_token", "refresh_token")), secret) if value
        }

    def _access(self) -> str:
        return str(self._stored.tokens["access_token"])

    def _sendable(self) -> Headers:
        return _bearer(self._access() if self._stored.is_current() else None)

    def _is_current(self, stored: StoredLogin) -> bool:
        return stored.is_current(time.time() + EXPIRY_MARGIN_S)


async def _renewed(
    source: CredentialSource, target: ServerTarget, settings: AuthSettings
) -> tuple[ServerTarget, AuthSettings] | None:
    """Resolve a target's references again. Return it with its settings, or None if the settings did not change."""
    renewed = None if target.renew is None else await target.renew()
    if renewed is None:
        return None
    try:
        changed = settings_of(renewed)
    except ConnectFailedError as error:
        source.refusal = str(error)
        return None
    if changed == settings:
        return None
    source.secrets.add(changed.client_secret or "")
    return attrs.evolve(target, auth=renewed.auth, secrets=renewed.secrets), changed


def _token_in(target: ServerTarget) -> set[str]:
    token = (target.auth or {}).get("token")
    return {token} if isinstance(token, str) else set()


def _learn(source: CredentialSource, target: ServerTarget, secret: str | None) -> None:
    if secret and secret not in source.secrets:
        source.secrets.add(secret)
        if target.on_secret is not None:
            target.on_secret(secret)


def store_of(target: ServerTarget, settings: AuthSettings) -> Store:
    """Return the store of a target's login."""
    return Store(target.url or "", settings.client_id, settings.issuer)


async def _run(
    source: CredentialSource,
    provider: httpx2.Auth,
    request: httpx2.Request,
    answer: httpx2.Response | None,
    target: ServerTarget,
) -> bool:
    """Run a flow. Keep a refusal for the message of the following 401. Raises: httpx2.ConnectError."""
    try:
        await drive(provider, request, answer, target)
    except ConnectFailedError as error:
        if not error.permanent:
            raise httpx2.ConnectError(str(error), request=request) from None
        source.refusal = str(error)
        return False
    source.refusal = ""
    return True


def _challenged_scope(answer: httpx2.Response) -> str:
    """Return the scopes that an answer says the token lacks, separated by spaces; empty for any other answer."""
    if answer.status_code != HTTPStatus.FORBIDDEN or (
        extract_field_from_www_auth(answer, "error") != "insufficient_scope"
    ):
        return ""
    scope = extract_field_from_www_auth(answer, "scope") or ""
    return scope if _SCOPE.fullmatch(scope) else ""


def _copy(request: httpx2.Request) -> httpx2.Request:
    """Return the request for a flow to sign: its address and protocol version, without its body."""
    kept = {name: value for name, value in request.headers.items() if name.lower() == "mcp-protocol-version"}
    return httpx2.Request(request.method, request.url, headers=kept)


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _sign(request: httpx2.Request, headers: Headers) -> None:
    request.headers.pop("Authorization", None)
    request.headers.update(headers)


def _bearer(token: str | None) -> Headers:
    return {"Authorization": f"Bearer {token}"} if token is not None else {}
