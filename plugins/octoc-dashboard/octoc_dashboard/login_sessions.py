"""Login sessions: the browser's cookie has a random name, and the token stays in the gateway's memory."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

SESSION_S = 8 * 3600.0
LIMIT = 1000
_HOST_ONLY = "__Host-"
"""Prefix of a cookie that browsers accept only with `Secure`, with `Path=/`, and for this host alone."""


@attrs.frozen
class _LoginSession:
    token: str = attrs.field(repr=False)
    ends: float


class LoginSessions:
    """Login sessions by name. Each ends after `SESSION_S`; beyond `LIMIT` of them the oldest ends.

    Names are kept as digests. The caller checks the token again at each request, since it may be revoked.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _LoginSession] = OrderedDict()

    def begin(self, token: str) -> str:
        """Return the secret name of a new session."""
        name = secrets.token_urlsafe(32)
        self._sessions[_digest(name)] = _LoginSession(token, self._clock() + SESSION_S)
        if len(self._sessions) > LIMIT:
            self._sessions.popitem(last=False)
        return name

    def token(self, name: str) -> str | None:
        """Return the token of a session; None if it is unknown or has ended."""
        session = self._sessions.get(_digest(name))
        if session is None:
            return None
        if session.ends <= self._clock():
            self.end(name)
            return None
        return session.token

    def end(self, name: str) -> None:
        """Forget a session; an unknown one is ignored."""
        self._sessions.pop(_digest(name), None)


def read_cookie(request: Request) -> str:
    """Return the name of the request's login session; empty if it has none."""
    name = _cookie_name(request)
    return request.cookies.get(f"{_HOST_ONLY}{name}") or request.cookies.get(name, "")


def write_cookie(request: Request, response: Response, value: str, seconds: float) -> None:
    """Set the cookie of a login session in the response; 0 seconds deletes it."""
    # With a TLS proxy in front, the form's origin shows that the browser uses TLS.
    secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
    name = f"{_HOST_ONLY if secure else ''}{_cookie_name(request)}"
    response.set_cookie(name, value, max_age=round(seconds), httponly=True, samesite="strict", secure=secure)


def _cookie_name(request: Request) -> str:
    """Return the cookie's name. It contains the port, since browsers share cookies between all ports of a host."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"octoc-{port if port.isdecimal() else 'page'}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
