"""Reads a server's `auth`, in the spellings of Octo, Claude Code, VS Code and Cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import attrs

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc.plugin.toolkit import is_loopback

Kind = Literal["none", "bearer", "client_credentials", "oauth"]
Method = Literal["none", "client_secret_basic", "client_secret_post"]

DEFAULT_PORT = 9876
"""Port to which the browser returns; the same as in Octo."""
_METHODS: tuple[Method, ...] = ("none", "client_secret_basic", "client_secret_post")
# The fields of each kind, by our name, with their spellings.
_TAKES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bearer": {"token": ("token",)},
    "client_credentials": {
        "client_id": ("client_id",),
        "client_secret": ("client_secret",),
        "scopes": ("scopes", "scope"),
        "method": ("token_endpoint_auth_method",),
        "issuer": ("issuer",),
    },
    "oauth": {
        "client_id": ("client_id", "clientId", "CLIENT_ID"),
        "client_secret": ("client_secret", "clientSecret", "CLIENT_SECRET"),
        "scopes": ("scopes", "scope"),
        "redirect_uri": ("redirect_uri",),
        "port": ("callbackPort",),
        "method": ("token_endpoint_auth_method",),
        "issuer": ("issuer",),
    },
}


@attrs.frozen(kw_only=True)
class AuthSettings:
    """One server's `auth`, checked. `scopes` is space-separated; `issuer` is the only authorization server allowed.

    The browser returns to `redirect_uri`, always on this machine; None means `http://localhost:9876/callback`, or
    another port if that one is taken.
    """

    kind: Kind
    token: str = attrs.field(default="", repr=False)
    client_id: str | None = None
    client_secret: str | None = attrs.field(default=None, repr=False)
    scopes: str | None = None
    method: Method | None = None
    issuer: str | None = None
    redirect_uri: str | None = None


def settings_of(target: ServerTarget) -> AuthSettings:
    """Return the settings in the target's `auth`. Raises: ConnectFailedError, permanent, if it cannot be understood."""
    auth = target.auth
    if not auth:
        return AuthSettings(kind="none")
    kind = auth.get("type", "oauth")
    if kind not in _TAKES:
        raise refused(target, f"has a `type` that octoc does not know: expected one of {', '.join(_TAKES)}")
    values: dict[str, Any] = {}
    names = {spelling: name for name, spellings in _TAKES[kind].items() for spelling in spellings}
    for key, value in auth.items():
        if key == "type":
            continue
        if key not in names:
            raise refused(target, f"has `{key}`, which `{kind}` does not take: it takes {', '.join(names)}")
        values[names[key]] = value
    return _checked(target, kind, values)


def _checked(target: ServerTarget, kind: Kind, values: Mapping[str, Any]) -> AuthSettings:
    texts = {
        name: value for name, value in values.items() if name not in {"scopes", "port"} and value not in {None, ""}
    }
    for name, value in texts.items():
        if not isinstance(value, str):
            raise refused(target, f"has a `{name}` that is not a text")
    method = texts.get("method")
    if method is not None and method not in _METHODS:
        raise refused(target, f"has an unknown `token_endpoint_auth_method`: expected one of {', '.join(_METHODS)}")
    scopes = values.get("scopes")
    if isinstance(scopes, (list, tuple)):
        scopes = " ".join(map(str, scopes))
    if scopes is not None and not isinstance(scopes, str):
        raise refused(target, "has `scopes` that are neither a text nor a list of texts")
    settings = AuthSettings(
        kind=kind,
        token=texts.get("token", ""),
        client_id=texts.get("client_id"),
        client_secret=texts.get("client_secret"),
        scopes=scopes or None,
        method=method,
        issuer=texts.get("issuer"),
        redirect_uri=_redirect(target, texts.get("redirect_uri"), values.get("port")),
    )
    if kind == "bearer" and not sendable(settings.token):
        raise refused(target, "has a `token` that is empty, or that no HTTP header can carry")
    if kind == "client_credentials" and not (settings.client_id and settings.client_secret):
        raise refused(target, "needs `client_id` and `client_secret_env`, the name of the variable with the secret")
    return settings


def _redirect(target: ServerTarget, uri: str | None, port: Any) -> str | None:
    if uri is None and port is None:
        return None
    if uri is None:
        if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536:
            raise refused(target, "has a `callbackPort` that is not a port: expected a number from 1 to 65535")
        return f"http://localhost:{port}/callback"
    parts = urlsplit(uri)
    try:
        at = parts.port
    except ValueError:
        at = 0
    if parts.scheme != "http" or not is_loopback(parts.hostname or "") or at == 0:
        raise refused(target, "has a `redirect_uri` beyond this machine: expected `http://localhost:PORT/PATH`")
    return uri if at is not None else parts._replace(netloc=f"{parts.netloc}:{DEFAULT_PORT}").geturl()


def refused(target: ServerTarget, why: str) -> ConnectFailedError:
    """Return the failure of an unusable `auth`; `why` continues the sentence after the server's name."""
    return ConnectFailedError(f"the `auth` of `{target.name}` {why}", permanent=True)


def sendable(value: str) -> bool:
    """Return whether a header can carry a text: printable ASCII, and not empty."""
    return bool(value) and all("!" <= character <= "~" for character in value)
