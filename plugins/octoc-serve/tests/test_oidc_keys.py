"""Keys of an identity provider: fetched, kept for a time, fetched again, and never waited for without end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import attrs
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from octoc.runtime import OidcAccess, OidcProvider, ServeSettings
from octoc.testing import AUDIENCE, IdentityProvider, identity_provider, new_key
from octoc_serve.oidc import discovery
from octoc_serve.oidc.decisions import Admitted, TokenRefusal
from octoc_serve.oidc.discovery import FetchError, fetch_keys, metadata_urls
from octoc_serve.oidc.key_set import KeySet, key_set
from octoc_serve.oidc.provider_keys import PAUSE_S, RETRY_S, ProviderKeys
from octoc_serve.oidc.verifier import TokenVerifier

CLAIMS = {"org": "acme"}


@attrs.define
class Clock:
    """Seconds that a test sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@attrs.define
class Scene:
    """A verifier whose provider and clock a test changes."""

    provider: IdentityProvider
    clock: Clock
    verifier: TokenVerifier
    stores: list[ProviderKeys]

    async def kind(self, token: str) -> str:
        """Return `admitted`, or the kind of the refusal."""
        decision = await self.verifier.decide(token)
        return decision.kind if isinstance(decision, TokenRefusal) else "admitted"

    @property
    def fetches(self) -> int:
        """How often the keys were fetched."""
        return self.provider.paths.count("/keys")


def definition(issuer: str, **changes: Any) -> OidcProvider:
    """Return a provider of octoc.toml with one row."""
    rows = (OidcAccess(claims=CLAIMS, agents=("clerk",)),)
    return attrs.evolve(OidcProvider(name="acme", issuer=issuer, audiences=(AUDIENCE,), access=rows), **changes)


def play(scenario: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    """Run a scenario with a provider that is up and a verifier that has not asked it yet."""
    with identity_provider() as provider:
        clock = Clock()
        stores: list[ProviderKeys] = []

        def made(one: OidcProvider) -> ProviderKeys:
            stores.append(ProviderKeys(one, clock=clock))
            return stores[-1]

        verifier = TokenVerifier(lambda _: True, frozenset, made)
        verifier.use(ServeSettings(oidc=(definition(provider.issuer),), closed=True))
        asyncio.run(asyncio.wait_for(scenario(Scene(provider, clock, verifier, stores)), 120))


def test_a_rotated_key_is_fetched_and_a_withdrawn_one_refused() -> None:
    """A token with a new key causes one fetch, and the key that is not published any more opens nothing after it."""

    async def scenario(scene: Scene) -> None:
        old = scene.provider.token(CLAIMS)
        assert await scene.kind(old) == "admitted"
        scene.provider.rotate()
        del scene.provider.published[0]
        scene.clock.now += PAUSE_S
        assert await scene.kind(scene.provider.token(CLAIMS)) == "admitted"
        assert scene.fetches == 2
        assert await scene.kind(old) == "unknown key"

    play(scenario)


def test_unknown_keys_cause_few_fetches() -> None:
    """A hundred tokens with unknown keys at once cause no fetch within 10 s of the last one, and then one."""

    async def scenario(scene: Scene) -> None:
        assert await scene.kind(scene.provider.token(CLAIMS)) == "admitted"
        forged = [scene.provider.token(CLAIMS, key=new_key()) for _ in range(100)]
        for after_s in (0.0, PAUSE_S):
            scene.clock.now += after_s
            kinds = await asyncio.gather(*map(scene.kind, forged))
            assert set(kinds) == {"unknown key"}
        assert scene.fetches == 2

    play(scenario)


def test_known_keys_are_used_while_the_provider_is_down() -> None:
    """Tokens with known keys are admitted until `keep_keys`; others are refused as not checkable, with 503."""

    async def scenario(scene: Scene) -> None:
        token = scene.provider.token(CLAIMS)
        assert await scene.kind(token) == "admitted"
        scene.provider.mood = "down"
        scene.clock.now += 3600.0
        assert await scene.kind(scene.provider.token(CLAIMS, key=new_key())) == "no keys"
        assert await scene.kind(token) == "admitted"
        scene.clock.now += 1.0
        refused = await scene.verifier.decide(token)
        assert isinstance(refused, TokenRefusal)
        assert (refused.kind, refused.status, refused.code) == ("no keys", 503, "")
        scene.provider.mood = "up"
        scene.clock.now += PAUSE_S
        assert await scene.kind(token) == "admitted"

    play(scenario)


def test_a_silent_provider_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch ends after its limit; meanwhile tokens with known keys are decided at once."""

    async def scenario(scene: Scene) -> None:
        token = scene.provider.token(CLAIMS)
        assert await scene.kind(token) == "admitted"
        scene.provider.mood = "silent"
        scene.clock.now += PAUSE_S
        waiting = asyncio.create_task(scene.kind(scene.provider.token(CLAIMS, key=new_key())))
        await asyncio.sleep(0)
        assert isinstance(scene.verifier.judge(token), Admitted)
        assert not waiting.done()
        assert await waiting == "no keys"
        scene.provider.mood = "up"
        scene.provider.changed.set()

    monkeypatch.setattr(discovery, "FETCH_S", 0.2)
    play(scenario)


def test_keys_are_fetched_in_the_background(caplog: pytest.LogCaptureFixture) -> None:
    """They are there before the first token; the log says when they cannot be fetched; a new bundle keeps them."""

    async def scenario(scene: Scene) -> None:
        async with scene.verifier.running():
            await scene.stores[0].renew()
            assert isinstance(scene.verifier.judge(scene.provider.token(CLAIMS)), Admitted)
            rows = (OidcAccess(claims={"org": "globex"}, agents=("clerk",)),)
            scene.verifier.use(ServeSettings(oidc=(definition(scene.provider.issuer, access=rows),), closed=True))
            assert await scene.kind(scene.provider.token(CLAIMS)) == "unmapped"
            assert len(scene.stores) == 1
            scene.provider.mood = "down"
            scene.clock.now += PAUSE_S
            await scene.stores[0].renew()
            assert scene.stores[0].next_s == RETRY_S[0]

    play(scenario)
    assert "could not be fetched (it answered 503 where its metadata should be" in caplog.text
    assert "the known ones are used for 3590 s more" in caplog.text


@pytest.mark.parametrize(
    "mood, words",
    [
        ("down", "it answered 503 where its metadata should be, expected 200"),
        ("moved", "it answered 302 where its metadata should be, expected 200; redirects are not followed"),
        ("foreign", "its metadata is of another issuer: the issuer in octoc.toml must be the same text"),
    ],
)
def test_a_provider_that_cannot_be_used_is_named_in_words(mood: Any, words: str) -> None:
    """Each kind of failure has its own words."""
    with identity_provider() as provider:
        provider.mood = mood
        with pytest.raises(FetchError, match=words):
            asyncio.run(fetch_keys(definition(provider.issuer)))


def test_an_unreachable_provider_is_named_in_words() -> None:
    """The system's reason stands in the text, and a `jwks_uri` needs no metadata."""
    with identity_provider() as provider:
        direct = definition("http://127.0.0.1:1", jwks_uri=f"{provider.issuer}/keys")
        assert asyncio.run(fetch_keys(direct)).find(provider.published[0].id, "ES256") is not None
    with pytest.raises(FetchError, match="connection refused"):
        asyncio.run(fetch_keys(definition(provider.issuer)))


def test_metadata_is_looked_for_where_the_standards_put_it() -> None:
    """OpenID Connect appends to the issuer, RFC 8414 inserts before its path."""
    assert list(metadata_urls("https://login.example/realms/acme")) == [
        "https://login.example/realms/acme/.well-known/openid-configuration",
        "https://login.example/.well-known/oauth-authorization-server/realms/acme",
        "https://login.example/.well-known/openid-configuration/realms/acme",
    ]
    assert list(metadata_urls("https://acme.auth.example/")) == [
        "https://acme.auth.example/.well-known/openid-configuration",
        "https://acme.auth.example/.well-known/oauth-authorization-server",
    ]


def _rsa(bits: int, **more: Any) -> dict[str, Any]:
    key = rsa.generate_private_key(65537, bits)
    return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "r", **more}


def keys_in(*entries: Any) -> KeySet:
    """Return the usable keys among entries of a key set."""
    return key_set(json.dumps({"keys": entries}).encode(), ("RS256", "ES256"))


def test_only_public_signing_keys_of_the_allowed_algorithms_are_used() -> None:
    """Shared, short, private, encrypting and doubtful keys are ignored; a key is bound to the algorithm it names."""
    good = _rsa(2048)
    found = keys_in(good, {"kty": "oct", "k": "AAAA", "kid": "r"}, {"kty": "EC"}, "x", None)
    assert set(found.keys) == {("r", "RS256")}
    assert isinstance(found.find(None, "RS256"), jwt.PyJWK)
    assert found.find("other", "RS256") is None
    for unusable in (
        _rsa(1024),
        {**good, "use": "enc"},
        {**good, "alg": "RS512"},
        {**good, "key_ops": ["encrypt"]},
        {**good, "key_ops": 3},
        {**good, "d": "AQAB"},
    ):
        with pytest.raises(ValueError, match="none of its keys can be used"):
            keys_in(unusable)
    with pytest.raises(ValueError, match="none of its keys can be used"):
        keys_in(good, _rsa(2048))  # two keys with one id
    for text in (b"[", b"[]", b'{"keys": 3}', b'{"keys": {}}', b"[" * 100_000):
        with pytest.raises(ValueError, match="not a JWK set"):
            key_set(text, ("RS256",))
