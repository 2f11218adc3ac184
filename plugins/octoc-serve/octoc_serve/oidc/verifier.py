"""Verifies access tokens by the rules of RFC 9068 and RFC 8725. Nothing of a token is logged but names."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import jwt

from octoc.plugin.toolkit import escape, name_list, shortened
from octoc_serve.oidc.access import keys_of, prefix_of
from octoc_serve.oidc.decisions import Admitted, RefusalKind, TokenRefusal
from octoc_serve.oidc.provider_keys import ProviderKeys

if TYPE_CHECKING:
    from octoc.runtime import OidcProvider, ServeSettings
    from octoc_serve.session_store import ClientKey

MAX_TOKEN_BYTES = 8 * 1024
LEEWAY_S = 30
"""Seconds that the clocks of provider and gateway may differ."""
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
_TYPES = ("at+jwt", "application/at+jwt", "jwt", "application/jwt")
_OF_ID_TOKEN = ("at_hash", "c_hash", "s_hash")
_SHOWN = 60
# The times are compared here, since PyJWT has a clock of its own.
_OPTIONS: jwt.types.Options = {
    "require": ["exp", "iat", "sub", "aud", "iss"],
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
}


class TokenVerifier:
    """Decides over access tokens by the providers of a bundle.

    Args:
        serves: whether an agent is served to a key's tenant.
        tenants: returns the tenants that a claim may name.
        keys_of: makes the key store of a provider.
        now: Unix time in seconds.
    """

    def __init__(
        self,
        serves: Callable[[ClientKey], bool],
        tenants: Callable[[], frozenset[str]],
        keys_of: Callable[[OidcProvider], ProviderKeys] = ProviderKeys,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._serves = serves
        self._tenants = tenants
        self._keys_of = keys_of
        self._now = now
        self._providers: dict[str, tuple[OidcProvider, ProviderKeys]] = {}
        self._tasks: dict[ProviderKeys, asyncio.Task[None]] = {}
        self._prefixes: tuple[str, ...] = ()
        self._running = False

    @property
    def providers(self) -> tuple[OidcProvider, ...]:
        """The providers, sorted by name."""
        return tuple(provider for provider, _ in self._providers.values())

    def use(self, settings: ServeSettings) -> None:
        """Use the providers of a bundle. A provider whose definition did not change keeps its keys."""
        before = self._providers
        self._providers = {}
        for provider in settings.oidc:
            old = before.get(provider.issuer)
            # With other rows the keys stay good; any other change may make them another provider's.
            same = old is not None and _without_rows(old[0]) == _without_rows(provider)
            self._providers[provider.issuer] = (provider, old[1] if old and same else self._keys_of(provider))
        self._prefixes = tuple(map(prefix_of, self.providers))
        if self._running:
            self._tend()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the providers' keys fresh during the block."""
        self._running = True
        self._tend()
        try:
            yield
        finally:
            self._running = False
            tasks = tuple(self._tasks.values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)
            self._tasks.clear()

    def _tend(self) -> None:
        """Let each provider's keys have a task that keeps them fresh, and no others."""
        stores = {keys for _, keys in self._providers.values()}
        for gone in self._tasks.keys() - stores:
            self._tasks.pop(gone).cancel()
        for new in stores - self._tasks.keys():
            self._tasks[new] = asyncio.create_task(new.keep_fresh(), name="octoc serve: fresh keys")

    def is_current(self, key: ClientKey) -> bool:
        """Return whether a client key is of a provider whose tokens still open what they opened."""
        return key.token.startswith(self._prefixes)

    async def decide(self, token: str) -> Admitted | TokenRefusal:
        """Return what becomes of a token; wait for the provider's new keys if the token's key is unknown."""
        decision = self.judge(token)
        if isinstance(decision, TokenRefusal) and decision.kind in {"unknown key", "no keys"}:
            keys = next(keys for one, keys in self._providers.values() if one.name == decision.provider)
            await keys.renew()
            decision = self.judge(token)
        return decision

    def judge(self, token: str) -> Admitted | TokenRefusal:
        """Return what becomes of a token by the keys that are known now."""
        read = _read(token)
        if isinstance(read, TokenRefusal):
            return read
        header, unverified = read
        provider, keys = self._providers.get(_text(unverified.get("iss")), (None, None))
        if provider is None or keys is None:
            expected = name_list(self._providers) if self._providers else "none, as no provider is usable"
            words = f"its issuer is `{_shown(unverified.get('iss'))}`: expected {expected}"
            return TokenRefusal(kind="wrong issuer", words=words)
        why = _header_trouble(header, provider)
        if why is not None:
            return why
        algorithm, key_id = header["alg"], header.get("kid")
        key = keys.find(key_id, algorithm)
        if key is None:
            return _without_key(provider, keys, key_id, algorithm)
        claims = _verified(token, key, provider, self._now())
        if isinstance(claims, TokenRefusal):
            return claims
        opened = keys_of(provider, claims, self._tenants(), self._serves)
        return opened if isinstance(opened, TokenRefusal) else Admitted(keys=opened, expires=claims["exp"] + LEEWAY_S)


def _without_rows(provider: OidcProvider) -> tuple[Any, ...]:
    return (provider.name, provider.issuer, provider.jwks_uri, provider.algorithms, provider.keep_keys_s)


def _read(token: str) -> tuple[Mapping[str, Any], Mapping[str, Any]] | TokenRefusal:
    """Return header and claims of a token whose signature is not verified yet."""
    if len(token) > MAX_TOKEN_BYTES:
        return TokenRefusal(
            kind="oversized", words=f"it has {len(token)} characters, at most {MAX_TOKEN_BYTES} are read"
        )
    if token.count(".") == 4:
        return TokenRefusal(kind="malformed", words="it is encrypted (JWE): expected a signed token (JWS)")
    if _COMPACT.fullmatch(token) is None:
        return TokenRefusal(
            kind="malformed", words="it is not a JWT, which has three parts in base64url with `.` between"
        )
    parts = token.split(".")
    try:
        decoded = [_decoded(part) for part in parts]
        header, claims = json.loads(decoded[0]), json.loads(decoded[1])
    except (ValueError, RecursionError):
        return TokenRefusal(kind="malformed", words="its parts are not base64url of JSON")
    if not isinstance(header, dict) or not isinstance(claims, dict):
        return TokenRefusal(kind="malformed", words="its header and its claims are not both JSON objects")
    return header, claims


def _decoded(part: str) -> bytes:
    """Return the bytes of a part. Raises: ValueError, also if another text is the usual one for these bytes."""
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != part:
        raise binascii.Error
    return decoded


def _header_trouble(header: Mapping[str, Any], provider: OidcProvider) -> TokenRefusal | None:
    def refused(kind: RefusalKind, words: str) -> TokenRefusal:
        return TokenRefusal(kind=kind, words=words, provider=provider.name)

    algorithm, kind = header.get("alg"), header.get("typ", "JWT")
    if algorithm not in provider.algorithms:
        expected = name_list(provider.algorithms)
        return refused("wrong algorithm", f"it is signed by `{_shown(algorithm)}`: expected {expected}")
    if not isinstance(header.get("kid", ""), str):
        return refused("malformed", "the id of its key is not a text")
    if "crit" in header:
        return refused("malformed", "its header has `crit`, whose extensions octoc does not know")
    types = _TYPES[:2] if provider.require_at_jwt else _TYPES
    if _text(kind).lower() not in types:
        return refused("wrong type", f"its type is `{_shown(kind)}`: expected `{types[0]}`")
    return None


def _without_key(provider: OidcProvider, keys: ProviderKeys, key_id: str | None, algorithm: str) -> TokenRefusal:
    which = "it names no key" if key_id is None else f"its key `{_shown(key_id)}` is unknown"
    if keys.current is None or keys.failing:
        words = f"{which}, and the provider's keys cannot be fetched now"
        return TokenRefusal(kind="no keys", words=words, provider=provider.name)
    words = f"{which}: the provider publishes none with this id for {algorithm}"
    return TokenRefusal(kind="unknown key", words=words, provider=provider.name)


def _verified(token: str, key: jwt.PyJWK, provider: OidcProvider, now: float) -> Mapping[str, Any] | TokenRefusal:
    """Return the claims of a token whose signature and claims are right."""

    def refused(kind: RefusalKind, words: str) -> TokenRefusal:
        return TokenRefusal(kind=kind, words=words, provider=provider.name)

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[key.algorithm_name],
            audience=provider.audiences,
            issuer=provider.issuer,
            options=_OPTIONS,
        )
    except jwt.InvalidSignatureError:
        return refused("bad signature", "its signature does not belong to its content and its key")
    except jwt.InvalidAudienceError:
        return refused("wrong audience", f"its audience is not one of {name_list(provider.audiences)}")
    except jwt.InvalidIssuerError:
        return refused("wrong issuer", f"its issuer is not `{provider.issuer}`")
    except jwt.MissingRequiredClaimError as error:
        return refused("missing claim", f"it has no claim `{error.claim}`")
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        return refused("malformed", "one of its claims has an unexpected form")
    return _times(claims, provider, now) or _purpose(claims, provider) or claims


def _times(claims: Mapping[str, Any], provider: OidcProvider, now: float) -> TokenRefusal | None:
    def refused(kind: RefusalKind, words: str) -> TokenRefusal:
        return TokenRefusal(kind=kind, words=words, provider=provider.name)

    times = [claims[name] for name in ("exp", "iat", "nbf") if name in claims]
    if not all(type(one) in {int, float} and 0 <= one < 2**53 for one in times):
        return refused("malformed", "its `exp`, `iat` and `nbf` are not all times")
    expires, issued = claims["exp"], claims["iat"]
    if expires + LEEWAY_S <= now:
        return refused("expired", f"it expired {now - expires:.0f} s ago")
    begins = max(issued, claims.get("nbf", issued))
    if begins - LEEWAY_S > now:
        return refused("not yet valid", f"it is valid only in {begins - now:.0f} s")
    if expires - issued > provider.max_lifetime_s:
        longest = f"{provider.max_lifetime_s:.0f} s (`max_lifetime`)"
        return refused("too long valid", f"it is valid for {expires - issued:.0f} s, at most {longest} are accepted")
    return None


def _purpose(claims: Mapping[str, Any], provider: OidcProvider) -> TokenRefusal | None:
    """Return why a token with a right signature is for something else than a request of its bearer."""
    if not isinstance(claims["sub"], str) or not claims["sub"]:
        return TokenRefusal(kind="missing claim", words="its `sub` is not a text", provider=provider.name)
    if "cnf" in claims:
        words = "it is bound to a key of its client (`cnf`), which octoc cannot check: expected a bearer token"
        return TokenRefusal(kind="not a bearer token", words=words, provider=provider.name)
    own = next((name for name in _OF_ID_TOKEN if name in claims), None)
    if own is not None:
        words = f"it is an ID token, since it has `{own}`: expected an access token"
        return TokenRefusal(kind="wrong type", words=words, provider=provider.name)
    return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: object) -> str:
    return escape(shortened(value, _SHOWN)) if isinstance(value, str) else "none"
