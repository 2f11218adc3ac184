"""Failures over HTTP, as values: their kind, their message, and whether the server may have begun the call."""

from __future__ import annotations

import json
import logging
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import attrs
import httpx2
import mcp_types
from mcp.shared.exceptions import MCPError

from octoc.plugin import ConnectFailedError, FailureKind, ServerTarget, ToolFailure
from octoc.plugin.toolkit import origin, reason_of, redact, retry_after_s
from octoc_transport_mcp.failures import one_line
from octoc_transport_mcp.http_bounds import BodyTooLargeError, BrokenEncodingError, media_type

if TYPE_CHECKING:
    from octoc_transport_mcp.claims import Claims
    from octoc_transport_mcp.http_client import GuardedClient

logger = logging.getLogger("octoc.transport")

FAULT_CODE = -31_999
"""Code of the JSON-RPC errors that octoc puts in place of a server's answer."""
MAX_MESSAGE_CHARS = 200
ENDLESS_REDIRECT = "answered with redirects without end"
_CONNECTION_KINDS: frozenset[FailureKind] = frozenset({"unauthorized", "timeout", "protocol", "too_large"})


@attrs.frozen(kw_only=True)
class Fault:
    """Why a request got no answer. `reason` continues the sentence after the server's name.

    `sent` is False if the server certainly did not begin the request; `lost` means that the session is over, and
    `permanent` that each attempt fails until the configuration changes.
    """

    kind: FailureKind
    reason: str
    sent: bool = True
    lost: bool = False
    permanent: bool = False
    retry_after_s: float | None = None


class HttpFaultError(Exception):
    """A fault that ends the attempt to connect."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


class HttpState:
    """State of one HTTP connection. Its errors carry faults through the SDK to the caller.

    `lost` is True once the session is over.
    """

    def __init__(self, target: ServerTarget, claims: Claims | None = None) -> None:
        self.target = target
        self.claims = claims
        """Observer of the answers and questions on streams of events."""
        self.lost = False
        self.ended: str | None = None
        """How the session ended, if not by the answer to a call."""
        self.auth: Any = None
        self.client: GuardedClient | None = None
        """The HTTP client of a connection over Streamable HTTP, while it is open."""
        self._seal = secrets.token_hex(16)

    def error(self, request_id: Any, fault: Fault) -> dict[str, Any]:
        """Return a JSON-RPC error that carries the fault, with a seal so that no server can forge one."""
        self.lost = self.lost or fault.lost
        data = {"seal": self._seal, "fault": attrs.asdict(fault)}
        error = {"code": FAULT_CODE, "message": fault.reason, "data": data}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}

    def fault_of(self, error: BaseException) -> Fault | None:
        """Return the fault of an exception, or None if HTTP did not cause it."""
        if isinstance(error, HttpFaultError):
            return error.fault
        if isinstance(error, httpx2.HTTPError):
            return self.of_exception(error)
        if not isinstance(error, MCPError):
            return None
        data = error.error.data
        if error.code == FAULT_CODE and isinstance(data, dict) and data.get("seal") == self._seal:
            return Fault(**data["fault"])
        # The SDK's own errors for a stream that it could not resume, and for too many redirects.
        if error.code == mcp_types.CONNECTION_CLOSED and error.message.startswith("SSE stream"):
            return Fault(kind="connection_lost", reason="ended its stream of events without an answer")
        if error.code == mcp_types.INVALID_REQUEST and error.message.startswith("Redirect to"):
            return Fault(kind="protocol", reason=ENDLESS_REDIRECT)
        return None

    def failure(self, fault: Fault) -> ToolFailure:
        """Return the fault as a value for the model."""
        message = self._line(f"`{self.target.name}` {fault.reason}")
        return ToolFailure(
            kind=fault.kind, message=message, text=message, sent=fault.sent, retry_after_s=fault.retry_after_s
        )

    def connection_failed(self, fault: Fault, *, listing: bool = False) -> ConnectFailedError:
        """Return the fault as the reason why connecting failed, or with `listing` why listing the tools failed."""
        name = f"`{self.target.name}`" if listing else f"`{origin(self.target.url or '')}`"
        return ConnectFailedError(
            self._line(f"{name} {fault.reason}"),
            kind=fault.kind if fault.kind in _CONNECTION_KINDS else "connect_failed",
            retry_after_s=fault.retry_after_s,
            permanent=fault.permanent,
        )

    def _line(self, text: str) -> str:
        return one_line(redact(text, getattr(self.auth, "secrets", ())), self.target)

    def of_status(self, response: httpx2.Response, body: bytes, *, in_session: bool = False) -> Fault:
        """Return the fault of a refusal. `in_session`: whether the request named a session."""
        status = response.status_code
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            reason = f"answered HTTP {status}: {self._advice(response)}"
            return Fault(kind="unauthorized", reason=reason, sent=False, permanent=True)
        if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            wait = retry_after_s(response.headers.get("retry-after"))
            why = "has no room for another request" if status == HTTPStatus.TOO_MANY_REQUESTS else "is not available"
            later = "" if wait is None else f", try again in {wait:.0f} s"
            reason = f"{why} (HTTP {status}){later}"
            return Fault(kind="unavailable", reason=reason, sent=False, retry_after_s=wait)
        if in_session and (status == HTTPStatus.NOT_FOUND or _names_session(body, status)):
            return Fault(kind="connection_lost", reason=f"has ended the session: HTTP {status}", sent=False, lost=True)
        more = _message_in(response, body)
        return Fault(kind="protocol", reason=f"answered HTTP {status}{f': {more}' if more else ''}")

    def _advice(self, response: httpx2.Response) -> str:
        login, target = self.target.login, self.target
        refusal = getattr(self.auth, "refusal", "")
        if response.status_code == HTTPStatus.FORBIDDEN:
            scope = "" if self.auth is None else self.auth.needed_scope(response)
            if scope and login:
                return f"its login lacks the scope `{scope[:MAX_MESSAGE_CHARS]}`; {login}, which asks for it"
            return f"its credentials may not do this{f'; for others, {login}' if login else ''}"
        if login:
            return f"{f'{refusal}; ' if refusal else ''}{login}"
        if refusal:
            return refusal
        name = next((name for name in target.headers if name.lower() == "authorization"), None)
        if name is not None:
            return f"it does not take the credential in the header `{name}` of server `{target.name}`"
        if target.auth:
            return f"it does not take the credential in `auth` of server `{target.name}`"
        return f"it wants a credential: set a header `Authorization` or `auth` for server `{target.name}`"

    def of_redirect(self, response: httpx2.Response) -> Fault:
        """Return the fault of a redirect that is not followed."""
        to = response.next_request.url if response.next_request is not None else None
        here = httpx2.URL(self.target.url or "")
        if to is not None and (to.scheme, to.host, to.port) == (here.scheme, here.host, here.port):
            return Fault(kind="protocol", reason=ENDLESS_REDIRECT)
        where = "" if to is None else f" to `{to.scheme}://{to.host}{f':{to.port}' if to.port else ''}`"
        reason = (
            f"answered HTTP {response.status_code}, a redirect{where} that is not followed: set `url` to where it is"
        )
        return Fault(kind="protocol", reason=reason, permanent=True)

    def of_content(self, response: httpx2.Response, expected: str = "JSON") -> Fault:
        """Return the fault of an answer with the wrong content type."""
        kind = media_type(response.headers)
        shown = f"`{kind[:80]}`" if kind else "no content type"
        reason = f"answered HTTP {response.status_code} with {shown} where {expected} was expected"
        return Fault(kind="protocol", reason=reason)

    def of_exception(self, error: Exception) -> Fault:
        """Return the fault of an exception of the HTTP client."""
        if isinstance(error, BodyTooLargeError):
            return Fault(kind="too_large", reason=f"answered with {error}")
        if isinstance(error, BrokenEncodingError):
            return Fault(kind="protocol", reason=f"answered with {error}")
        if isinstance(error, (httpx2.ConnectError, httpx2.ProxyError, httpx2.ConnectTimeout)):
            reason = f"could not be reached: {reason_of(error)}"
            return Fault(kind="connection_lost", reason=reason, sent=False, lost=True)
        if isinstance(error, httpx2.TimeoutException):
            return Fault(kind="timeout", reason="did not answer in time")
        if isinstance(error, httpx2.RemoteProtocolError):
            text = str(error)
            if "disconnected" in text or "peer closed" in text:
                ended = "before" if "disconnected" in text else "in the middle of"
                return Fault(kind="connection_lost", reason=f"closed the connection {ended} its answer")
            if "too long" in text:
                return Fault(kind="too_large", reason="answered with headers that are too long")
            return Fault(kind="protocol", reason="does not speak HTTP/1.1")
        if isinstance(error, (httpx2.NetworkError, OSError)):
            return Fault(kind="connection_lost", reason=f"lost the connection: {reason_of(error)}")
        if isinstance(error, httpx2.LocalProtocolError):
            # The exception's own text quotes the header, which may be a credential.
            return Fault(kind="bad_request", reason="cannot be asked: a header has a character that HTTP cannot carry")
        # The exception's own text may quote a request.
        logger.warning("a request to `%s` failed with `%s`", self.target.name, type(error).__name__)
        return Fault(kind="internal", reason="could not be asked")


def json_of(response: httpx2.Response, body: bytes) -> Any:
    """Return the value of a JSON body, or None for any other body."""
    kind = media_type(response.headers)
    if kind != "application/json" and not kind.endswith("+json"):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _names_session(body: bytes, status: int) -> bool:
    # The TypeScript examples refuse an unknown session with 400.
    return status == HTTPStatus.BAD_REQUEST and b"session" in body[:1000].lower()


def _message_in(response: httpx2.Response, body: bytes) -> str:
    """Return a server's own message in one line, from JSON or plain text, never from HTML."""
    value = json_of(response, body)
    if isinstance(value, dict):
        for key in ("message", "error_description", "detail", "error"):
            text = value.get(key)
            if isinstance(text, str) and text.strip():
                return text[:MAX_MESSAGE_CHARS]
    if media_type(response.headers) == "text/plain":
        return " ".join(body[: 4 * MAX_MESSAGE_CHARS].decode("utf-8", "replace").split())[:MAX_MESSAGE_CHARS]
    return ""
