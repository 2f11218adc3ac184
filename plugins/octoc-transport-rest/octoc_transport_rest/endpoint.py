"""Checks a target's URL, headers and auth before a request is sent."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import attrs

from octoc.plugin import Caller, ConnectFailedError, ServerTarget
from octoc.plugin.toolkit import is_loopback
from octoc_transport_rest.protocol import JSON_TYPE

log = logging.getLogger(__name__)

TENANT = "X-Octopus-Tenant-Id"
CORRELATION = "X-Octopus-Correlation-Id"
"""The episode of a call."""
USER = "X-Octopus-User-Id"
"""octoc's own header, which the protocol does not have: the user of a call."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[!-~]([ -~\t]*[!-~])?|")
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)


@attrs.frozen(kw_only=True)
class Endpoint:
    """A base URL without a slash at its end, and the headers of every request. Neither shows in repr."""

    base: str = attrs.field(repr=False)
    headers: Mapping[str, str] = attrs.field(repr=False)
    loopback: bool


def endpoint_of(target: ServerTarget) -> Endpoint:
    """Return the address and headers of requests. Raises: ConnectFailedError if they are unusable or leak a secret.

    Plain HTTP beyond this machine is refused in production mode; in development it is allowed, with a warning.
    """
    base, loopback = _base(target)
    headers = {"Accept": JSON_TYPE, "Accept-Encoding": "gzip", "User-Agent": "octoc"}
    for name, value in target.headers.items():
        # Check the values here, since httpx2 would quote them in its exceptions.
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _refused(f"`{target.name}` has a header `{name!a:.80}` that HTTP cannot carry")
        if name.lower() in _OURS:
            raise _refused(f"`{target.name}` sets the header `{name}`, which is the transport's own: remove it")
        if any(name.lower() == other.lower() for other in target.headers if other != name):
            raise _refused(f"`{target.name}` has two headers of one name, `{name}` in different case: keep one")
        headers[name] = value
    if target.auth:
        if any(name.lower() == "authorization" for name in headers):
            raise _refused(f"`{target.name}` has both `auth` and a header `Authorization`: keep one of them")
        headers["Authorization"] = f"Bearer {_token(target)}"
    return Endpoint(base=base, headers=headers, loopback=loopback)


def caller_headers(caller: Caller) -> dict[str, str]:
    """Return the headers with the caller of a call. Raises: ValueError, if a header cannot carry a value."""
    headers = {TENANT: caller.tenant, CORRELATION: caller.correlation_id, USER: caller.user}
    for name, value in headers.items():
        if value is not None and not _VALUE.fullmatch(value):
            raise ValueError(f"the value of `{name}` has a character that HTTP cannot carry")
    return {name: value for name, value in headers.items() if value is not None}


def _token(target: ServerTarget) -> str:
    auth = target.auth or {}
    token = auth.get("token")
    if auth.get("type") != "bearer" or not isinstance(token, str) or set(auth) != {"type", "token"}:
        raise _refused(
            f'the `auth` of `{target.name}` is not understood by this transport: it takes `type = "bearer"` and `token`'
        )
    if not token or not _VALUE.fullmatch(token):
        raise _refused(f"the token of `{target.name}` is empty, or has a character that HTTP cannot carry")
    return token


def _base(target: ServerTarget) -> tuple[str, bool]:
    if not target.url:
        raise _refused(f"`{target.name}` has no `url` to connect to")
    try:
        parts = urlsplit(target.url)
        host = parts.hostname
        _ = parts.port  # raises for anything but a number
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or not re.fullmatch(r"[!-~]+", target.url):
        raise _refused(f"the `url` of `{target.name}` is not an address: write `https://HOST/PATH`")
    if parts.username is not None or parts.query or parts.fragment:
        raise _refused(
            f"the `url` of `{target.name}` has a user, a query or a fragment: put credentials into `auth`, and end it "
            "with the path"
        )
    loopback = is_loopback(host)
    if parts.scheme == "http" and not loopback:
        if target.production:
            raise _refused(f"`{target.name}` is at a plain `http` address beyond this machine: use `https`")
        log.warning("`%s` is at a plain `http` address beyond this machine, which production mode refuses", target.name)
    return target.url.rstrip("/"), loopback


def _refused(message: str) -> ConnectFailedError:
    return ConnectFailedError(message, permanent=True)
