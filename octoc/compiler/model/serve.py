"""`[serve]` of `octoc.toml`: identity providers, and what their tokens open."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.bundle.serve_settings import DEFAULT_ALGORITHMS
from octoc.choices import TokenAlgorithm
from octoc.diagnostics.model import Place


@attrs.frozen(kw_only=True)
class AccessSource:
    """`[[serve.oidc.NAME.access]]`: as `octoc.bundle.serve_settings.OidcAccess`."""

    claims: Mapping[str, str]
    agents: tuple[str, ...]
    tenant: str | None = None
    tenant_claim: str | None = None
    place: Place


@attrs.frozen(kw_only=True)
class OidcSource:
    """`[serve.oidc.NAME]`: as `octoc.bundle.serve_settings.OidcProvider`. Times are seconds."""

    issuer: str
    audiences: tuple[str, ...]
    algorithms: tuple[TokenAlgorithm, ...] = DEFAULT_ALGORITHMS
    jwks_uri: str = ""
    scopes: tuple[str, ...] = ()
    user_claim: str = "sub"
    require_at_jwt: bool = False
    max_lifetime: float = 86400.0
    keep_keys: float = 3600.0
    access: tuple[AccessSource, ...]
    place: Place


@attrs.frozen(kw_only=True)
class ServeSource:
    """`[serve]`; `url` None is not written.

    `oidc` are the providers of which nothing was cut; `closed` is whether any is written, sound or not.
    """

    url: str | None = None
    oidc: Mapping[str, OidcSource] = attrs.field(factory=dict)
    closed: bool = False
