"""Failures as one-line messages without secrets: exceptions of httpx2, and refusals of a server."""

from __future__ import annotations

import datetime as dt
import logging
import ssl
from collections.abc import Mapping
from typing import Any

import httpx2

from octoc.plugin import ConnectFailedError, FailureKind, ServerTarget, ToolFailure
from octoc.plugin.toolkit import (
    SHORTEST_SECRET,
    bounded_wait,
    causes_of,
    origin,
    plain_error,
    reason_of,
    redactor,
    retry_after_s,
    shortened,
)

log = logging.getLogger(__name__)

MAX_MESSAGE_CHARS = 400
_OF_CONNECTION = frozenset({"connect_failed", "unauthorized", "timeout", "protocol", "too_large"})


class RestError(Exception):
    """A request got no answer of the protocol; the message is one line without a secret.

    `permanent` means that each attempt fails until the configuration changes, `refused` that the server answered
    without beginning the request.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        retry_after_s: float | None = None,
        *,
        permanent: bool = False,
        refused: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s
        self.permanent = permanent
        self.refused = refused

    def failure(self, *, sent: bool) -> ToolFailure:
        """Return the error as a value for the model. `sent`: whether the server may have begun the call."""
        message = str(self)
        begun = sent and not self.refused
        return ToolFailure(kind=self.kind, message=message, text=message, retry_after_s=self.retry_after_s, sent=begun)

    def failed(self) -> ConnectFailedError:
        """Return the error that a connection raises. A server that is busy counts as not connected."""
        kind = self.kind if self.kind in _OF_CONNECTION else "connect_failed"
        return ConnectFailedError(str(self), kind=kind, retry_after_s=self.retry_after_s, permanent=self.permanent)


def secrets_of(target: ServerTarget) -> tuple[str, ...]:
    """Return all values that may be secret, the longest first, so that a short one does not cut a longer one."""
    values = {*target.env.values(), *target.headers.values(), *target.secrets}
    token = (target.auth or {}).get("token")
    values.update([token] if isinstance(token, str) else [])
    # A server may echo the credential without its scheme.
    values.update(value.partition(" ")[2] for name, value in target.headers.items() if name.lower() == "authorization")
    long = (value for value in values if len(value) >= SHORTEST_SECRET)
    return tuple(sorted(long, key=lambda value: (-len(value), value)))


def without_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return a JSON value with each form of a secret replaced, and without lone surrogates, which UTF-8 lacks.

    Raises: RecursionError, for a value that is nested too deep.
    """
    redacted = redactor(secrets)

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return redacted(value).encode("utf-8", "replace").decode("utf-8")
        if isinstance(value, Mapping):
            return {clean(key): clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean(value)


def one_line(text: str, secrets: tuple[str, ...]) -> str:
    """Return `text` on one line of at most MAX_MESSAGE_CHARS, with the secrets cut out."""
    return shortened(" ".join(without_secrets(plain_error(text), secrets).split()).rstrip("."), MAX_MESSAGE_CHARS)


def of_exception(error: Exception, target: ServerTarget, secrets: tuple[str, ...]) -> RestError:
    """Return the error for an exception of httpx2."""
    if isinstance(error, (httpx2.ConnectError, httpx2.ProxyError)):
        where = f"`{origin(target.url or '')}` could not be reached"
        distrusted = any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes_of(error))
        text = one_line(f"{where}: {reason_of(error)}", secrets)
        return RestError("connect_failed", text, permanent=distrusted)
    if isinstance(error, httpx2.RemoteProtocolError):
        text = str(error)
        if "disconnected" in text or "peer closed" in text:
            ended = "before" if "disconnected" in text else "in the middle of"
            return RestError("connection_lost", f"`{target.name}` closed the connection {ended} its answer")
        if "too long" in text or "too many" in text:
            return RestError("too_large", f"`{target.name}` answered with headers that are too long")
        return RestError("protocol", f"`{target.name}` does not speak HTTP/1.1")
    if isinstance(error, (httpx2.NetworkError, OSError)):
        text = f"the connection to `{target.name}` was lost: {reason_of(error)}"
        return RestError("connection_lost", one_line(text, secrets))
    # The exception's own text may quote a request.
    log.warning("a request to `%s` failed with `%s`", target.name, type(error).__name__)
    return RestError("internal", f"the request to `{target.name}` failed")


def wait_s(header: str | None, body: Any, now: dt.datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait: `retry_after` in its body, else the header; None without both."""
    asked = body.get("retry_after") if isinstance(body, Mapping) else None
    if isinstance(asked, (int, float)) and not isinstance(asked, bool) and asked >= 0:
        return bounded_wait(asked)
    return retry_after_s(header, now)
