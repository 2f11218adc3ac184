"""Where a server is and with which headers: a target's URL, headers and auth, checked before anything is sent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import attrs

from octoc.plugin.protocols import ConnectionFailed, ServerTarget
from octoc_transport_rest.protocol import JSON_TYPE

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
    """Return where to send requests. Raises: ConnectionFailed, when it cannot be done or would show a credential."""
    base, loopback = _base(target)
    headers = {"Accept": JSON_TYPE, "Accept-Encoding": "gzip", "User-Agent": "octoc"}
    for name, value in target.headers.items():
        # The values are checked here, since httpx would quote them in what it raises.
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ConnectionFailed(f"`{target.name}` has a header `{name!a:.80}` that HTTP cannot carry")
        if name.lower() in _OURS:
            raise ConnectionFailed(f"`{target.name}` sets the header `{name}`, which is the transport's own: remove it")
        headers[name] = value
    if target.auth:
        if any(name.lower() == "authorization" for name in headers):
            raise ConnectionFailed(f"`{target.name}` has both `auth` and a header `Authorization`: keep one of them")
        headers["Authorization"] = f"Bearer {_token(target)}"
    return Endpoint(base=base, headers=headers, loopback=loopback)


def _token(target: ServerTarget) -> str:
    auth = target.auth or {}
    token = auth.get("token")
    if auth.get("type") != "bearer" or not isinstance(token, str) or set(auth) != {"type", "token"}:
        raise ConnectionFailed(
            f'the `auth` of `{target.name}` is not understood by this transport: it takes `type = "bearer"` and `token`'
        )
    if not token or not _VALUE.fullmatch(token):
        raise ConnectionFailed(f"the token of `{target.name}` is empty, or has a character that HTTP cannot carry")
    return token


def _base(target: ServerTarget) -> tuple[str, bool]:
    if not target.url:
        raise ConnectionFailed(f"`{target.name}` has no `url` to connect to")
    try:
        parts = urlsplit(target.url)
        host = parts.hostname
        _ = parts.port  # raises when it is no number
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or not re.fullmatch(r"[!-~]+", target.url):
        raise ConnectionFailed(f"the `url` of `{target.name}` is no address: write `https://HOST/PATH`")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConnectionFailed(
            f"the `url` of `{target.name}` has a user, a query or a fragment: put credentials into `auth`, and end it "
            "with the path"
        )
    loopback = _is_loopback(host)
    if parts.scheme == "http" and not loopback:
        raise ConnectionFailed(f"`{target.name}` is at a plain `http` address beyond this machine: use `https`")
    return target.url.rstrip("/"), loopback


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
