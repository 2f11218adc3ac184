"""What `octoc serve` needs to know of identity providers: which tokens it accepts, and what their claims open."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.choices import TokenAlgorithm

DEFAULT_ALGORITHMS: tuple[TokenAlgorithm, ...] = ("RS256", "PS256", "ES256", "EdDSA")


@attrs.frozen(kw_only=True)
class OidcAccess:
    """What a token gets whose claims have all these values.

    Args:
        claims: name of a claim -> its value, or one of its values if it is a list. A name that no claim has is a path
            with dots: `realm_access.roles`.
        agents: the agents that it may use, the one at the path without an agent first. Empty where the names in the
            file are unknown: such a row still takes part in the comparison of tenants.
        tenant: the tenant of its calls.
        tenant_claim: the claim that has the tenant, which must be one of the bundle.
    """

    claims: Mapping[str, str]
    agents: tuple[str, ...] = ()
    tenant: str | None = None
    tenant_claim: str | None = None


@attrs.frozen(kw_only=True)
class OidcProvider:
    """An identity provider, and what its access tokens open.

    Args:
        issuer: its `iss`, compared exactly.
        audiences: a token's `aud` has one of these.
        algorithms: those that a token may be signed with, all asymmetric.
        jwks_uri: where its keys are; empty for the address in its metadata.
        scopes: all that a token must have, in `scope` or `scp`.
        user_claim: the claim with the user's name for servers and logs.
        require_at_jwt: whether the header's `typ` must be `at+jwt` (RFC 9068).
        max_lifetime_s: longest time from `iat` to `exp`; longer tokens are refused.
        keep_keys_s: how long its keys are used after they were last fetched.
    """

    name: str
    issuer: str
    audiences: tuple[str, ...]
    algorithms: tuple[TokenAlgorithm, ...] = DEFAULT_ALGORITHMS
    jwks_uri: str = ""
    scopes: tuple[str, ...] = ()
    user_claim: str = "sub"
    require_at_jwt: bool = False
    max_lifetime_s: float = 86400.0
    keep_keys_s: float = 3600.0
    access: tuple[OidcAccess, ...] = ()


@attrs.frozen(kw_only=True)
class ServeSettings:
    """`[serve]`.

    Args:
        url: scheme and host under which clients reach the gateway; empty for those of each request.
        oidc: the identity providers whose definition is sound.
        closed: whether providers are defined, sound or not: then every request needs a token.
    """

    url: str = ""
    oidc: tuple[OidcProvider, ...] = ()
    closed: bool = False
