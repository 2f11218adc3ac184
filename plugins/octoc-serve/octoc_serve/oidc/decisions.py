"""What becomes of an access token: what it opens, or why it is refused."""

from __future__ import annotations

from typing import Literal

import attrs

from octoc_serve.session_store import ClientKey

RefusalKind = Literal[
    "oversized", "malformed", "not a bearer token", "wrong algorithm", "wrong type", "wrong issuer", "unknown key",
    "no keys", "bad signature", "expired", "not yet valid", "too long valid", "wrong audience", "missing claim",
    "missing scope", "unmapped", "two tenants", "unknown tenant", "not served",
]  # fmt: skip

_FORBIDDEN = frozenset({"missing scope", "unmapped", "two tenants", "unknown tenant", "not served"})


@attrs.frozen(kw_only=True)
class TokenRefusal:
    """Why a token is refused.

    Args:
        words: for the gateway's log, never for the client. They have no part of the token but names.
        provider: the provider that it is of; empty if that is unknown.
        scopes: those that the provider's tokens need, for `missing scope`.
    """

    kind: RefusalKind
    words: str
    provider: str = ""
    scopes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The HTTP status: 401 for a token that is not valid, 403 for one that opens nothing, 503 without keys."""
        if self.kind == "no keys":
            return 503
        return 403 if self.kind in _FORBIDDEN else 401

    @property
    def code(self) -> str:
        """The error code of RFC 6750, 3.1; empty if there is none for it."""
        if self.kind == "missing scope":
            return "insufficient_scope"
        return "invalid_token" if self.status == 401 else ""


@attrs.frozen(kw_only=True)
class Admitted:
    """What a valid token opens: a client key for each agent, the default one first, until `expires` (Unix time)."""

    keys: tuple[ClientKey, ...]
    expires: float
