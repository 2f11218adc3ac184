"""The dashboard's ASGI application. It works without scripts, and its pages load nothing from other hosts."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from octoc.plugin import ToolFilter
from octoc.runtime import BundleFileError
from octoc_dashboard.forms import first_values, read_form
from octoc_dashboard.login_sessions import SESSION_S, LoginSessions, read_cookie, write_cookie
from octoc_dashboard.templates import TEMPLATES
from octoc_dashboard.views import MAX_MESSAGE_CHARS, REFRESH_S, agent_context

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from octoc.plugin import PageAccess

logger = logging.getLogger(__name__)

_MAX_TOKEN_CHARS = 1000
MAX_SUMMARIES = 50
_NOT_ADMITTED = "This token opens nothing here."
_FOLDER = Path(__file__).parent
_FILES = {"page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# The referrer stays within this gateway. `no-referrer` would make browsers send `Origin: null` with its own forms.
SECURITY_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def make_app(access: PageAccess) -> ASGIApp:
    """Return the application, with the security headers in each of its answers."""
    site = _Site(access)
    app = Starlette(
        routes=[
            Route("/", site.home, methods=["GET", "POST"]),
            Route("/page/sign-in", site.sign_in, methods=["POST"]),
            Route("/page/sign-out", site.sign_out, methods=["POST"]),
            *(Route(f"/page/{name}", _file(name, kind)) for name, kind in _FILES.items()),
        ],
        exception_handlers={
            404: _nowhere,
            HTTPException: _refused,
            BundleFileError: _no_bundle,
            Exception: _failed,
        },
    )
    app.router.redirect_slashes = False
    return functools.partial(_secured, app)


async def _secured(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(SECURITY_HEADERS)
        await send(message)

    await app(scope, receive, with_headers)


@attrs.frozen(eq=False)
class _Site:
    """The pages that need to know their visitor."""

    _access: PageAccess
    _sessions: LoginSessions = attrs.field(factory=LoginSessions)

    async def home(self, request: Request) -> Response:
        """Show an agent, and the routing of a sent message; ask a visitor without an agent for a token."""
        message = await _message(request) if request.method == "POST" else None
        query = first_values(request.query_params)
        token = self._sessions.token(read_cookie(request))
        agents = self._access.agents(token)
        if not agents:
            return _page(request, "sign_in.html")
        name = query.get("agent", agents[0].name)
        agent = next((one for one in agents if one.name == name), None)
        if agent is None:
            return _no_agent(request)
        tools = ToolFilter(words=query.get("words", "")[:200], start=_number(query.get("start", "")))
        try:
            routed = None if message is None else await agent.route(message)
            overview = await agent.overview(tools)
            summaries = [await one.summary() for one in agents[:MAX_SUMMARIES]] if len(agents) > 1 else []
        except LookupError:
            return _no_agent(request)
        # A page with an answer to a sent form is not loaded again by itself: the browser would ask whether to send it.
        refresh_s = REFRESH_S if routed is None and query.get("refresh") else 0
        names = [one.name for one in agents]
        context = agent_context(overview, names, tools, routed, summaries=summaries, refresh_s=refresh_s)
        return _page(request, "agent.html", {**context, "signed_in": token is not None})

    async def sign_in(self, request: Request) -> Response:
        """Begin a login session for a token that has an agent."""
        token = (await read_form(request)).get("token", "").strip()
        if not token or len(token) > _MAX_TOKEN_CHARS or not self._access.agents(token):
            # The same message for each cause.
            return _page(request, "sign_in.html", {"problem": _NOT_ADMITTED}, status=403)
        self._sessions.end(read_cookie(request))
        return _to_home(request, self._sessions.begin(token), SESSION_S)

    async def sign_out(self, request: Request) -> Response:
        """End the login session."""
        await read_form(request)
        self._sessions.end(read_cookie(request))
        return _to_home(request, "", 0)


async def _message(request: Request) -> str:
    message = (await read_form(request)).get("message", "").replace("\r\n", "\n")
    if len(message) > MAX_MESSAGE_CHARS:
        raise HTTPException(413, f"A message has at most {MAX_MESSAGE_CHARS:,} characters here")
    return message


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else 0


def _file(name: str, kind: str) -> Any:
    content = (_FOLDER / "static" / name).read_bytes()

    async def send_file(_: Request) -> Response:
        return Response(content, headers={"content-type": kind})

    return send_file


def _page(request: Request, template: str, context: Mapping[str, Any] | None = None, status: int = 200) -> Response:
    return TEMPLATES.TemplateResponse(request, template, dict(context or {}), status)


def _to_home(request: Request, session: str, seconds: float) -> Response:
    response = RedirectResponse("/", 303)
    write_cookie(request, response, session, seconds)
    return response


def _notice(request: Request, title: str, text: str, status: int) -> Response:
    return _page(request, "notice.html", {"title": title, "text": text}, status)


async def _nowhere(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "there is nothing here: MCP is at /mcp, and a page at /"}, 404)


def _no_agent(request: Request) -> Response:
    return _notice(request, "Not found", "There is no such agent here.", 404)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response = _notice(request, "Method not allowed", "This address does not take this method.", 405)
        response.headers["allow"] = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        return response
    return _notice(request, HTTPStatus(error.status_code).phrase, f"{error.detail}.", error.status_code)


async def _no_bundle(request: Request, error: Exception) -> Response:
    logger.error("the page cannot be shown: %s", error)
    return _notice(request, "Not now", "The bundle cannot be used; the gateway’s log says why.", 503)


async def _failed(request: Request, _: Exception) -> Response:
    # Starlette raises the exception again after this answer, and the gateway logs it.
    return _notice(request, "This failed", "This is a bug in octoc; the gateway’s log has its place.", 500)
