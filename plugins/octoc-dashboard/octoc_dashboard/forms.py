"""Requests of browsers: forms, cookies, and where a form came from; answers, and what a browser may do with them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import attrs

if TYPE_CHECKING:
    from octoc_serve.door import Receive, Scope, Send

MAX_FORM_BYTES = 64 * 1024
_FORM_S = 10.0
_FORM_TYPE = "application/x-www-form-urlencoded"
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# The referrer stays within this gateway. `no-referrer` would have browsers send `Origin: null` with its own forms.
_HEADERS = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)


class BadRequest(Exception):  # noqa: N818  # what was sent, not a fault in the program
    """A request that no form of the page sends: its status and a line on why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@attrs.frozen(kw_only=True, eq=False)
class Request:
    """What a browser asks. `method` is never `HEAD`: that is a `GET` whose answer has no body."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str] = attrs.field(repr=False)
    secure: bool
    bodiless: bool


@attrs.frozen
class Answer:
    """What is sent back. `more` are headers besides those that every answer has."""

    body: bytes = b""
    status: int = 200
    type: str = attrs.field(default="text/html; charset=utf-8", kw_only=True)
    more: Sequence[tuple[str, str]] = attrs.field(default=(), kw_only=True)


def request_of(scope: Scope) -> Request:
    """Return the request of an ASGI scope."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    method = scope["method"]
    return Request(
        method="GET" if method == "HEAD" else method,
        path=scope["path"],
        query=_fields(scope.get("query_string", b"")),
        headers=headers,
        secure=scope.get("scheme") == "https",
        bodiless=method == "HEAD",
    )


def cookies_of(request: Request) -> dict[str, str]:
    """Return the cookies, as they stand."""
    pairs = (part.strip().partition("=") for part in request.headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs if name}


def from_here(request: Request) -> bool:
    """Tell whether a page of this gateway has sent a form: a page of another origin must not act for its visitor.

    The browser says so itself, and no page can change what it says; an older one names the origin. Who names nothing
    is no browser, and has no form to send. `none` is a visitor who loads the answer again.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    try:
        origin = urlsplit(request.headers.get("origin", "")).netloc
    except ValueError:
        return False
    return bool(origin) and origin.lower() == request.headers.get("host", "").lower()


async def form_of(request: Request, receive: Receive) -> dict[str, str]:
    """Return the fields of a form that was sent. Raises: BadRequest."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        raise BadRequest(415, f"a form is sent as {_FORM_TYPE}")
    body = b""
    try:
        async with asyncio.timeout(_FORM_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BadRequest(400, "the form was cut off")
                body += message.get("body", b"")
                if len(body) > MAX_FORM_BYTES:
                    raise BadRequest(413, f"a form has at most {MAX_FORM_BYTES} bytes")
                if not message.get("more_body"):
                    return _fields(body)
    except TimeoutError:
        raise BadRequest(408, "the form did not arrive in time") from None


async def answer(send: Send, request: Request, given: Answer) -> None:
    """Send an answer."""
    headers = [("content-type", given.type), ("content-length", str(len(given.body))), *_HEADERS, *given.more]
    written = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": given.status, "headers": written})
    await send({"type": "http.response.body", "body": b"" if request.bodiless else given.body})


def _fields(text: bytes) -> dict[str, str]:
    try:
        found = parse_qs(text.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise BadRequest(400, "a form has at most 20 fields") from None
    return {name: values[0] for name, values in found.items()}
