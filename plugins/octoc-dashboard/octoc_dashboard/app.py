"""The page's addresses: who is visiting, what is answered. Works without scripts, and asks nothing of other hosts."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.refusal import BundleRefused
from octoc_serve.error_boundary import tell
from octoc_serve.page.look import Asked, look
from octoc_serve.page.routing import MAX_MESSAGE_CHARS, Asker
from octoc_serve.page.sections import saying, showing, signing_in
from octoc_serve.page.visits import VISIT_S, Visits
from octoc_serve.page.wire import Answer, BadRequest, Request, answer, cookies_of, form_of, from_here, request_of

if TYPE_CHECKING:
    from octoc_serve.door import Door, Receive, Scope, Send
    from octoc_serve.session_store import Key

logger = logging.getLogger(__name__)

_MAX_TOKEN_CHARS = 1000
_HOST_ONLY = "__Host-"
"""What browsers take as the start of a cookie's name with `Secure` and `Path=/` alone, and for no other host."""
_NOT_ADMITTED = "This token opens nothing here."
_FILES = {"/page/page.css": "text/css; charset=utf-8", "/page/icon.svg": "image/svg+xml"}

Action = Callable[[Request, "Receive"], Awaitable[Answer]]


class Site:
    """The ASGI application of the page."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._visits = Visits()
        self._asker = Asker(door)
        folder = Path(__file__).parent
        self._files = {path: (folder / path.rpartition("/")[2]).read_bytes() for path in _FILES}
        self._actions: dict[tuple[str, str], Action] = {
            ("GET", "/"): self._show,
            ("POST", "/"): self._route,
            ("POST", "/page/sign-in"): self._sign_in,
            ("POST", "/page/sign-out"): self._sign_out,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            request = request_of(scope)
        except BadRequest as bad:
            await send({"type": "http.response.start", "status": bad.status, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        try:
            given = await self._answer(request, receive)
        except BadRequest as bad:
            given = Answer(saying(HTTPStatus(bad.status).phrase, f"{bad}."), bad.status)
        except BundleRefused as refused:
            logger.error("the page cannot be shown: %s", refused)  # noqa: TRY400  # the refusal says all there is to say
            given = Answer(saying("Not now", "The bundle cannot be used; the gateway’s log says why."), 503)
        except Exception as error:  # noqa: BLE001  # one visitor's bad luck ends no gateway, and shows nobody a traceback
            tell("showing the page", error)
            given = Answer(saying("This failed", "It is a fault of octoc’s; the gateway’s log has its place."), 500)
        await answer(send, request, given)

    async def _answer(self, request: Request, receive: Receive) -> Answer:
        if request.path in self._files and request.method == "GET":
            return Answer(self._files[request.path], type=_FILES[request.path])
        action = self._actions.get((request.method, request.path))
        if action is not None:
            if request.method == "POST" and not from_here(request):
                raise BadRequest(403, "A form is taken from this gateway’s own pages alone")
            return await action(request, receive)
        methods = [method for method, path in self._actions if path == request.path]
        methods += ["GET"] if request.path in self._files else []
        if not methods:
            body = json.dumps({"error": "there is nothing here: MCP is at /mcp, and a page at /"}).encode()
            return Answer(body, 404, type="application/json")
        return Answer(
            saying("Not so", "This address is not asked that way."), 405, more=(("allow", ", ".join(methods)),)
        )

    async def _show(self, request: Request, receive: Receive) -> Answer:
        return await self._page(request, None)

    async def _route(self, request: Request, receive: Receive) -> Answer:
        form = await form_of(request, receive)
        message = form.get("message", "").replace("\r\n", "\n")
        if len(message) > MAX_MESSAGE_CHARS:
            raise BadRequest(413, f"A message has at most {MAX_MESSAGE_CHARS:,} characters here")
        return await self._page(request, message)

    async def _page(self, request: Request, message: str | None) -> Answer:
        token = self._visits.token(_visit_of(request))
        keys = self._door.admit(token)
        if not keys:
            return Answer(signing_in())
        key = _chosen(keys, request.query.get("agent"))
        if key is None:
            return Answer(saying("Not found", "There is no such agent here."), 404)
        asked = Asked(words=request.query.get("words", "")[:200], start=_number(request.query.get("start", "")))
        try:
            routed = None if message is None else await self._asker.ask(key, message)
            agent = await look(self._door, key, asked)
        except LookupError:
            return Answer(saying("Not found", "There is no such agent here."), 404)
        body = showing(
            agent,
            [one.agent for one in keys],
            signed_in=token is not None,
            asked=asked,
            routed=routed,
            message=message or "",
        )
        return Answer(body)

    async def _sign_in(self, request: Request, receive: Receive) -> Answer:
        token = (await form_of(request, receive)).get("token", "").strip()
        if not token or len(token) > _MAX_TOKEN_CHARS or not self._door.admit(token):
            # In the same words whatever is wrong with it.
            return Answer(signing_in(_NOT_ADMITTED), 403)
        self._visits.end(_visit_of(request))
        name = self._visits.begin(token)
        return _back(_set_cookie(request, name, round(VISIT_S)))

    async def _sign_out(self, request: Request, receive: Receive) -> Answer:
        self._visits.end(_visit_of(request))
        return _back(_set_cookie(request, "", 0))


def _back(cookie: str) -> Answer:
    return Answer(status=303, more=(("location", "/"), ("set-cookie", cookie)))


def _visit_of(request: Request) -> str:
    """Return what the cookie says; empty where there is none."""
    cookies, name = cookies_of(request), _cookie(request)
    return cookies.get(f"{_HOST_ONLY}{name}") or cookies.get(name, "")


def _cookie(request: Request) -> str:
    """Return the cookie's name: browsers hold cookies of all ports of a host together, so it has the port in it."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"octoc-{port if port.isdecimal() else 'page'}"


def _set_cookie(request: Request, value: str, seconds: int) -> str:
    # Behind a proxy that ends TLS the form's own origin tells.
    secure = request.secure or request.headers.get("origin", "").startswith("https://")
    start = f"{_HOST_ONLY if secure else ''}{_cookie(request)}={value}"
    return f"{start}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def _chosen(keys: tuple[Key, ...], agent: str | None) -> Key | None:
    return keys[0] if agent is None else next((key for key in keys if key.agent == agent), None)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else 0
