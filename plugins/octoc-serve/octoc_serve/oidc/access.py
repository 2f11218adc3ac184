"""From the claims of a verified token to the agents that it opens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.plugin.toolkit import escape, name_list, shortened
from octoc_serve.oidc.decisions import TokenRefusal
from octoc_serve.session_store import ClientKey

if TYPE_CHECKING:
    from octoc.runtime import OidcAccess, OidcProvider

_SHOWN = 60
"""Characters of a name in a log."""


def keys_of(
    provider: OidcProvider,
    claims: Mapping[str, Any],
    tenants: Iterable[str],
    serves: Callable[[ClientKey], bool],
) -> tuple[ClientKey, ...] | TokenRefusal:
    """Return a client key for each agent that a token's claims open, in the order of the provider's rows.

    Args:
        tenants: the tenants that a claim may name.
        serves: whether an agent is served to a key's tenant.
    """
    name = provider.name
    missing = [scope for scope in provider.scopes if scope not in _scopes(claims)]
    if missing:
        words = f"it has no scope {name_list(missing)}"
        return TokenRefusal(kind="missing scope", words=words, provider=name, scopes=provider.scopes)
    rows = [row for row in provider.access if matches(row, claims)]
    if not rows:
        names = name_list([_shown(one) for one in sorted(claims)][:20])
        return TokenRefusal(kind="unmapped", words=f"no row matches its claims; it has {names}", provider=name)
    # A claim may have a value that is not a text; it is refused below.
    found = [row.tenant if row.tenant_claim is None else _value(claims, row.tenant_claim) for row in rows]
    if any(one != found[0] for one in found):
        return TokenRefusal(kind="two tenants", words="rows of different tenants match its claims", provider=name)
    tenant = found[0]
    if any(row.tenant_claim is not None for row in rows) and (not isinstance(tenant, str) or tenant not in tenants):
        which = f"`{_shown(tenant)}`" if isinstance(tenant, str) else "none"
        words = f"its claim `{next(row.tenant_claim for row in rows if row.tenant_claim)}` names {which} as its tenant"
        return TokenRefusal(kind="unknown tenant", words=f"{words}, and the bundle has no such tenant", provider=name)
    user = _value(claims, provider.user_claim)
    base = ClientKey(
        agent="",
        token=identity(provider, claims),
        tenant=tenant,
        user=user if isinstance(user, str) else None,
    )
    agents = dict.fromkeys(agent for row in rows for agent in row.agents)
    keys = tuple(key for agent in agents if serves(key := attrs.evolve(base, agent=agent)))
    if not keys:
        which = name_list(agents) if agents else "no agent that exists"
        return TokenRefusal(kind="not served", words=f"it is for {which}, not served here", provider=name)
    return keys


def matches(row: OidcAccess, claims: Mapping[str, Any]) -> bool:
    """Return whether a token has all claims of a row."""
    for name, wanted in row.claims.items():
        value = _value(claims, name)
        if value != wanted and not (isinstance(value, list) and wanted in value):
            return False
    return True


def prefix_of(provider: OidcProvider) -> str:
    """Return the start of the identities of a provider's clients; it changes with what its tokens open."""
    return f"{provider.name}.{_digest(provider.issuer, repr(provider.access))[:8]}."


def identity(provider: OidcProvider, claims: Mapping[str, Any]) -> str:
    """Return the id of a token's client. A token that replaces an expired one has the same."""
    client = claims.get("client_id", claims.get("azp", ""))
    return prefix_of(provider) + _digest(provider.issuer, str(claims["sub"]), str(client))[:32]


def _value(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by its path with dots; None if there is none."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes of a token, which `scope` or `scp` has as a list or with spaces between."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        given = value.split() if isinstance(value, str) else value
        found |= {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()
    return frozenset(found)


def _shown(name: str) -> str:
    return escape(shortened(name, _SHOWN))


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
