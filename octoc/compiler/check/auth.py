"""How octoc authenticates to a remote server: `auth`, and `oauth` as Claude Code and VS Code write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.translate import found_words
from octoc.compiler.fixes.edits import renamed
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.lint_mcp import UNSUPPORTED_CONNECTION
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import one_of
from octoc.transport_kinds import kind_of_definition

_SECRET = ("client_secret", "client_secret_env")
# A name that ends in `_env` holds the name of a variable instead. Source: Octo, `auth`. The first type is what an
# `auth` without one is: Cursor's.
_TAKES: Mapping[str, tuple[str, ...]] = {
    "oauth": (
        *("client_id", "clientId", "CLIENT_ID", *_SECRET, "clientSecret", "CLIENT_SECRET", "scopes", "scope"),
        *("redirect_uri", "callbackPort", "token_endpoint_auth_method", "issuer"),
    ),
    "client_credentials": ("client_id", *_SECRET, "scopes", "scope", "token_endpoint_auth_method", "issuer"),
    "bearer": ("token", "token_env"),
}
_NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "oauth": (),
    "client_credentials": (("client_id",), _SECRET),
    "bearer": (("token", "token_env"),),
}
_METHODS = ("none", "client_secret_basic", "client_secret_post")
_LISTS = frozenset({"scopes", "scope"})
_ELSEWHERE = "authServerMetadataUrl"


def check_auth(name: str, entry: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    """Check `auth` and `oauth` of a server.

    A slip in one leaves the server out: it is never called without the credentials, or the restriction, that it was to
    have. What only a third-party plugin may know is a warning.
    """
    for field in ("auth", "oauth"):
        if field not in entry:
            continue
        at, auth = (*path, field), entry[field]
        kind = auth.get("type", "oauth") if field == "auth" else "oauth"
        why = _unsupported(entry, field, kind, inspection)
        if why is not None:
            near = did_you_mean(kind, _TAKES) if isinstance(kind, str) and kind not in _TAKES else None
            inspection.report(
                UNSUPPORTED_CONNECTION,
                f"server `{name}` {why}: it cannot be connected",
                at,
                key=True,
                help=near or 'write `{"type": "bearer", "token": "${TOKEN}"}`, or a type that is ' + one_of(_TAKES),
            )
        else:
            _check_fields(name, kind, auth, at, inspection)


def _unsupported(entry: Mapping[str, Any], field: str, kind: Any, inspection: FileInspection) -> str | None:
    """Return what no transport that comes with octoc does, to go on from the server's name."""
    if "url" not in entry:
        return f"has `{field}`, and no `url` that it could be for"
    if kind not in _TAKES:
        return f"has an `{field}` of a `type` that no transport that comes with octoc knows"
    if field == "oauth" and _ELSEWHERE in entry[field]:
        return f"sets `{_ELSEWHERE}`, which octoc does not use: it asks the server where to log in"
    transport = inspection.kinds[kind_of_definition(entry) or ""]
    if transport.auth is not None and kind not in transport.auth:
        return f"has an `{field}` of type `{kind}`, which `{transport.key}` does not do"
    return None


def _check_fields(name: str, kind: str, auth: Mapping[str, Any], at: KeyPath, inspection: FileInspection) -> None:
    server = at[:-1]
    for key, value in auth.items():
        if key == "type":
            continue
        if key in _TAKES[kind]:
            _check_value(key, value, (*at, key), inspection)
            continue
        place = Place(file=inspection.file.display, path=(*at, key), part="key")
        inspection.report(
            rules.UNKNOWN_KEY,
            f"unknown key `{key}` in an `auth` of type `{kind}`",
            (*at, key),
            key=True,
            cut=server,
            help=did_you_mean(key, _TAKES[kind]) or f"expected {one_of(_TAKES[kind])}",
            fix=renamed(place, key, set(_TAKES[kind]) - set(auth)),
        )
    for choices in _NEEDS[kind]:
        if not any(auth.get(key) for key in choices):
            inspection.report(
                rules.MISSING_KEY,
                f"the `auth` of server `{name}` has no {one_of(choices)}, which type `{kind}` needs",
                at,
                cut=server,
                help=f"add {one_of(choices)}",
            )


def _check_value(key: str, value: Any, at: KeyPath, inspection: FileInspection) -> None:
    if key in _LISTS and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return
    expected = None
    if key == "callbackPort":
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 65536:
            expected = "a port, a whole number from 1 to 65535,"
    elif not isinstance(value, str):
        expected = "a string"
    elif key == "token_endpoint_auth_method" and value not in _METHODS:
        expected = one_of(_METHODS)
    if expected is not None:
        # Never the value itself: it may be a secret.
        found = "another text" if isinstance(value, str) else found_words(value, inspection.file.kind)
        message = f"expected {expected} for `{inspection.dotted(at)}`, found {found}"
        inspection.report(rules.WRONG_TYPE, message, at, cut=at[:-2])
