"""What the schema of `[serve]` cannot say: addresses of identity providers, and rows that match the same tokens."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any
from urllib.parse import urlsplit

from octoc.addresses import is_loopback
from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules import check as rules

_SECURE = "write `https://`; `http://` is for an address of this machine, such as `http://127.0.0.1:8080`"


def check_serve(serve: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a table `[serve]` whose schema is met; a provider with a mistake is cut."""
    if "url" in serve:
        _check_address(serve["url"], ("serve", "url"), inspection, cut=("serve", "url"), is_origin=True)
    issuers: dict[str, str] = {}
    for name, provider in serve.get("oidc", {}).items():
        at: KeyPath = ("serve", "oidc", name)
        for key in ("issuer", "jwks_uri"):
            if key in provider:
                _check_address(provider[key], (*at, key), inspection, cut=at)
        first = issuers.setdefault(provider["issuer"], name)
        if first != name:
            inspection.report(
                rules.AMBIGUOUS_ACCESS,
                f"providers `{first}` and `{name}` have the same issuer",
                (*at, "issuer"),
                cut=at,
                related={"the other one is here": ("serve", "oidc", first, "issuer")},
                help="make one of the two, with the rows and audiences of both",
            )
        _check_rows(provider["access"], at, inspection)


def _check_address(
    address: str, path: KeyPath, inspection: FileInspection, *, cut: KeyPath, is_origin: bool = False
) -> None:
    trouble, advice = _trouble_of(address, is_origin=is_origin)
    if trouble:
        inspection.report(rules.UNEXPECTED_VALUE, f"`{path[-1]}` cannot be used: {trouble}", path, cut=cut, help=advice)


def _trouble_of(address: str, *, is_origin: bool) -> tuple[str, str]:
    """Return what is wrong with an address, and what to do; empty texts if nothing is."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "it is not a URL", "write one such as `https://login.acme.example`"
    if any(character.isspace() or not character.isprintable() for character in address):
        return "it has spaces or control characters", "write it as the provider's metadata has it"
    if parts.scheme not in {"https", "http"} or not host:
        return "expected an `https` URL with a host", "write one such as `https://login.acme.example`"
    if parts.username is not None or parts.password is not None:
        return "it has a user name or password", "remove it: octoc asks without credentials"
    if parts.scheme == "http" and not is_loopback(host):
        return f"`http` is not safe for `{host}`, which is not this machine", _SECURE
    if is_origin and (parts.path.strip("/") or parts.query or parts.fragment):
        return "it has more than scheme and host", "remove what follows the host"
    if parts.fragment:
        return "it has a fragment", "remove the part from `#` on"
    return "", ""


def _check_rows(access: Any, at: KeyPath, inspection: FileInspection) -> None:
    rows = list(kept(access))
    for index, row in rows:
        if not row["claims"]:
            inspection.report(
                rules.EMPTY_VALUE,
                "a row names no claims, so every token of the provider would match it",
                (*at, "access", index, "claims"),
                cut=at,
                help='name what a token must have, such as `groups = "support"`',
            )
        if "tenant" in row and "tenant_claim" in row:
            inspection.report(
                rules.UNEXPECTED_VALUE,
                "a row has both a `tenant` and a `tenant_claim`, expected one of them at most",
                (*at, "access", index, "tenant_claim"),
                key=True,
                cut=at,
                help="delete `tenant` if the token names its tenant, else `tenant_claim`",
            )
    for (first, one), (second, other) in combinations(rows, 2):
        smaller, larger = sorted((one["claims"].items(), other["claims"].items()), key=len)
        if not smaller <= larger:
            continue
        is_same = len(smaller) == len(larger)
        if is_same or _tenant_of(one) != _tenant_of(other):
            inspection.report(
                rules.AMBIGUOUS_ACCESS,
                "this row has the claims of another one"
                if is_same
                else "a token can match this row and another one, and their tenants differ",
                (*at, "access", second),
                cut=at,
                related={"the other row is here": (*at, "access", first)},
                help="name all agents in one row"
                if is_same and _tenant_of(one) == _tenant_of(other)
                else "add a claim, so that no token has the claims of both",
            )


def _tenant_of(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return row.get("tenant"), row.get("tenant_claim")
