"""Many clients over Streamable HTTP: who may ask is decided here, before the SDK sees a request."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from octoc_serve import page
from octoc_serve.door import Door
from octoc_serve.server import PRINCIPAL, SESSION_HEADER, SurfaceServer
from octoc_serve.states import Key
from octoc_serve.tokens import Kept, Tokens, bearer_of

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from octoc.plugin.gateway import GatewaySettings
    from octoc_serve.door import Receive, Scope, Send

logger = logging.getLogger(__name__)

PATH = "/mcp"


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine alone."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


@attrs.frozen(eq=False)
class _Request:
    """A request that is under way: whose, and whether it is a stream of news, which ends only when somebody ends it."""

    key: Key
    task: asyncio.Task[None]
    streams: bool


class HttpApp:
    """The ASGI application: `/mcp`, `/healthz` and `/readyz`."""

    def __init__(
        self, surface: SurfaceServer, settings: GatewaySettings, tokens: Tokens, kept: tuple[Kept, ...]
    ) -> None:
        self._surface = surface
        self._settings = settings
        self._tokens = tokens
        self._kept = kept
        # Decided once: a gateway whose last token is revoked serves nobody, rather than everybody.
        self._guarded = bool(kept)
        self._loopback = is_loopback(settings.host)
        self._under_way: set[_Request] = set()
        self.draining = False
        self._page = page.routes(Door(surface=surface, admit=self._admitted, guarded=lambda: self._guarded))
        self.manager = StreamableHTTPSessionManager(
            surface.lowlevel(),
            stateless=settings.stateless,
            max_request_body_size=settings.max_body_bytes,
            session_idle_timeout=settings.idle_s,
            max_sessions=settings.max_sessions,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path == "/healthz":
            await _answer(send, 200, "ok")
        elif path == "/readyz":
            ready = not self.draining and not self._surface.runtime.closed
            await _answer(send, 200 if ready else 503, "ready" if ready else "draining")
        else:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            why = self._foreign(headers)
            if why is not None:
                await _answer(send, 403, why)
            elif self.draining:
                await _answer(send, 503, "this gateway is going down", retry=True)
            elif path == PATH:
                await self._mcp(headers, scope, receive, send)
            else:
                await self._page(scope, receive, send)

    async def _mcp(self, headers: dict[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        key = self._key(headers.get("authorization", ""))
        if key is None:
            await _answer(send, 401, "a token is needed: octoc serve token add makes one", challenge=True)
            return
        if key.agent not in self._surface.runtime.agents:
            await _answer(send, 403, f"agent `{key.agent}` is not in the bundle that is served")
            return
        scope[PRINCIPAL] = key
        if key.token:
            # The SDK lets a session be used only by whom it was opened by.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=key.token, scopes=[]))
        session = headers.get(SESSION_HEADER)
        whole = attrs.evolve(key, session=session)
        begun: list[str] = []

        async def noted(message: MutableMapping[str, Any]) -> None:
            begun.append(message["type"])
            await send(message)

        with self._surface.states.using(whole), self._noted(scope, whole, receive, noted) as request:
            try:
                await request.task
            except asyncio.CancelledError:
                if not request.task.done():
                    request.task.cancel()
                    await asyncio.wait((request.task,))
                    raise
                # Somebody here has ended it: its client gets a whole answer all the same.
                if begun:
                    await send({"type": "http.response.body", "body": b""})
                else:
                    await _answer(send, 503, "this gateway has ended the request", retry=True)
        if scope["method"] == "DELETE" and session is not None:
            await self._surface.states.end(lambda one: one == whole)

    @contextlib.contextmanager
    def _noted(self, scope: Scope, key: Key, receive: Receive, send: Send) -> Iterator[_Request]:
        task = asyncio.create_task(self.manager.handle_request(scope, receive, send))
        request = _Request(key, task, scope["method"] == "GET")
        self._under_way.add(request)
        try:
            yield request
        finally:
            self._under_way.discard(request)

    def _admitted(self, text: str | None) -> tuple[Key, ...]:
        """Return whose things a visitor with this token may see, or with none."""
        key = self._key("" if text is None else f"Bearer {text}")
        return () if key is None or key.agent not in self._surface.runtime.agents else (key,)

    def _key(self, authorization: str) -> Key | None:
        """Return whom a request is from, without its session; None for nobody that we know."""
        scheme, _, text = authorization.partition(" ")
        entry = bearer_of(self._kept, text.strip()) if scheme.lower() == "bearer" else None
        if entry is not None:
            return Key(agent=entry.agent, token=entry.id, tenant=entry.tenant)
        return None if self._guarded else Key(agent=self._settings.agent)

    def _foreign(self, headers: dict[str, str]) -> str | None:
        """Return why a request may come from a web page that the user only looks at, or None."""
        # A name that resolves to this machine may belong to anybody.
        if self._loopback and not is_loopback(_host(f"//{headers.get('host', '')}")):
            return "this gateway is for this machine alone: its Host is not"
        origin = headers.get("origin")
        if origin is None or origin in self._settings.origins:
            return None
        if self._loopback and is_loopback(_host(origin)):
            return None
        return "requests of this Origin are not served: --allow-origin names those that are"

    async def renew_tokens(self) -> None:
        """Read the tokens again; what clients of revoked ones have open ends. A file that cannot be used is ignored."""
        from octoc.plugin.gateway import GatewayRefused

        try:
            self._kept = self._tokens.read()
        except GatewayRefused as refused:
            logger.error("the tokens stay as they were: %s", refused)  # noqa: TRY400  # it says all there is to say
            return
        self._guarded = self._guarded or bool(self._kept)
        known = {kept.entry.id for kept in self._kept} | (set() if self._guarded else {""})
        for request in self._under_way:
            if request.key.token not in known:
                request.task.cancel()
        await self._surface.states.end(lambda key: key.token not in known)

    def drain(self) -> None:
        """Take no more requests, and end streams of news; calls under way go on."""
        self.draining = True
        for served in self._surface.states.all():
            served.listen.close()
        for request in self._under_way:
            if request.streams:
                request.task.cancel()


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


async def _answer(send: Send, status: int, text: str, *, challenge: bool = False, retry: bool = False) -> None:
    body = json.dumps({"status" if status == 200 else "error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if challenge:
        headers.append((b"www-authenticate", b"Bearer"))
    if retry:
        headers.append((b"retry-after", b"5"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
