"""Access tokens of an identity provider: what a sound one opens, and each reason to refuse one, in words of its own."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from octoc.runtime import OidcAccess, OidcProvider, ServeSettings
from octoc.testing import AUDIENCE, IdentityProvider, identity_provider, new_key
from octoc_serve.oidc.decisions import Admitted, TokenRefusal
from octoc_serve.oidc.verifier import MAX_TOKEN_BYTES, TokenVerifier
from octoc_serve.refusal_log import RefusalLog

ROWS = (
    OidcAccess(claims={"org": "acme", "realm.roles": "support"}, agents=("clerk", "supervisor"), tenant="acme"),
    OidcAccess(claims={"org": "acme", "groups": "ops"}, agents=("supervisor", "keeper"), tenant="acme"),
    OidcAccess(claims={"https://id.example/team": "globex"}, agents=("clerk",), tenant="globex"),
    OidcAccess(claims={"kind": "any"}, agents=("clerk",), tenant_claim="org"),
    OidcAccess(claims={"kind": "gone"}, agents=()),
)
SOUND = {"org": "acme", "realm": {"roles": ["x", "support"]}}


@pytest.fixture(scope="module")
def issuer() -> Iterator[IdentityProvider]:
    """A provider that stays up."""
    with identity_provider() as provider:
        yield provider


Judge = Callable[..., Admitted | TokenRefusal]


@pytest.fixture
def judge(issuer: IdentityProvider) -> Judge:
    """A function that decides over one token, as a gateway with `ROWS` does."""

    def judged(token: str, *, now: float | None = None, **changes: Any) -> Admitted | TokenRefusal:
        provider = OidcProvider(name="acme", issuer=issuer.issuer, audiences=(AUDIENCE,), access=ROWS)
        verifier = TokenVerifier(
            lambda key: key.agent != "keeper",
            lambda: frozenset({"acme", "globex"}),
            now=time.time if now is None else lambda: now,
        )
        verifier.use(ServeSettings(oidc=(attrs.evolve(provider, **changes),), closed=True))
        return asyncio.run(verifier.decide(token))

    return judged


def test_a_sound_token_opens_the_agents_of_its_rows(issuer: IdentityProvider, judge: Judge) -> None:
    """Rows of one tenant add up, in their order, without agents that are not served; a claim may be a path or a URL."""
    both = judge(issuer.token({**SOUND, "groups": ["ops"], "name": "Ann"}), user_claim="name")
    assert isinstance(both, Admitted)
    assert [(key.agent, key.tenant, key.user) for key in both.keys] == [
        ("clerk", "acme", "Ann"),
        ("supervisor", "acme", "Ann"),
    ]
    other = judge(issuer.token({"https://id.example/team": "globex"}))
    assert isinstance(other, Admitted)
    assert [(key.agent, key.tenant, key.user) for key in other.keys] == [("clerk", "globex", "u-1")]
    named = judge(issuer.token({"kind": "any", "org": "globex"}))
    assert isinstance(named, Admitted)
    assert named.keys[0].tenant == "globex"


def test_a_new_token_of_the_same_user_and_client_continues(issuer: IdentityProvider, judge: Judge) -> None:
    """Its client key is that of the expired token; another user, client or table of rows has another."""

    def key(claims: dict[str, Any], **changes: Any) -> str:
        decision = judge(issuer.token({**SOUND, **claims}), **changes)
        assert isinstance(decision, Admitted)
        return decision.keys[0].token

    first = key({})
    assert key({}) == first
    assert len({first, key({"sub": "u-2"}), key({"client_id": "web"}), key({}, access=ROWS[:1])}) == 4


def _unsigned(token: str, **header: Any) -> str:
    """Return a token with another header and no signature."""
    _, claims, _ = token.split(".")
    return f"{_part({'typ': 'at+jwt', **header})}.{claims}."


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _by_public_key(provider: IdentityProvider) -> str:
    """Return a token whose HMAC has the provider's public key as its secret."""
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = provider.published[-1].private.public_key()
    secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    unsigned = _unsigned(provider.token(SOUND), alg="HS256", kid=provider.published[-1].id).rstrip(".")
    signature = base64.urlsafe_b64encode(hmac.digest(secret, unsigned.encode(), hashlib.sha256))
    return f"{unsigned}.{signature.rstrip(b'=').decode()}"


Make = Callable[[IdentityProvider], str]
REFUSED: dict[str, tuple[Make, str, int, str]] = {
    "expired": (lambda p: p.token(SOUND, lifetime_s=-60), "expired", 401, "it expired "),
    "not yet valid": (
        lambda p: p.token({**SOUND, "nbf": int(time.time()) + 600}),
        "not yet valid",
        401,
        "it is valid only in ",
    ),
    "issued later": (
        lambda p: p.token({**SOUND, "iat": int(time.time()) + 600, "exp": int(time.time()) + 900}),
        "not yet valid",
        401,
        "it is valid only in ",
    ),
    "audience": (lambda p: p.token({**SOUND, "aud": "other"}), "wrong audience", 401, f"not one of `{AUDIENCE}`"),
    "no audience": (lambda p: p.token({**SOUND, "aud": None}), "missing claim", 401, "it has no claim `aud`"),
    "issuer": (
        lambda p: p.token({**SOUND, "iss": "https://evil.example"}),
        "wrong issuer",
        401,
        "its issuer is `https://evil.example`: expected `http://127.0.0.1:",
    ),
    "alg none": (
        lambda p: _unsigned(p.token(SOUND), alg="none"),
        "wrong algorithm",
        401,
        "it is signed by `none`: expected `RS256`, `PS256`, `ES256`, `EdDSA`",
    ),
    "no alg": (lambda p: _unsigned(p.token(SOUND)), "wrong algorithm", 401, "it is signed by `none`"),
    "HS256 with the public key": (_by_public_key, "wrong algorithm", 401, "it is signed by `HS256`"),
    "unknown key": (
        lambda p: p.token(SOUND, key=new_key()),
        "unknown key",
        401,
        "the provider publishes none with this id for ES256",
    ),
    "known id, other key": (
        lambda p: p.token(SOUND, key=attrs.evolve(new_key(), id=p.published[-1].id)),
        "bad signature",
        401,
        "its signature does not belong to its content and its key",
    ),
    "known key, other algorithm": (
        lambda p: _unsigned(p.token(SOUND), alg="RS256", kid=p.published[-1].id),
        "unknown key",
        401,
        "the provider publishes none with this id for RS256",
    ),
    "oversized": (
        lambda p: p.token({**SOUND, "groups": ["g"] * MAX_TOKEN_BYTES}),
        "oversized",
        401,
        f"at most {MAX_TOKEN_BYTES} are read",
    ),
    "no JWT": (lambda _: "opaque", "malformed", 401, "it is not a JWT"),
    "encrypted": (lambda _: "a.b.c.d.e", "malformed", 401, "it is encrypted (JWE)"),
    "padding": (lambda p: p.token(SOUND) + "=", "malformed", 401, "it is not a JWT"),
    "nested": (lambda p: f"{'W1tb' * 1500}.{p.token(SOUND).partition('.')[2]}", "malformed", 401, "not base64url of"),
    "crit": (lambda p: p.token(SOUND, header={"crit": ["x"], "x": 1}), "malformed", 401, "its header has `crit`"),
    "type": (
        lambda p: p.token(SOUND, header={"typ": "secevent+jwt"}),
        "wrong type",
        401,
        "its type is `secevent+jwt`: expected `at+jwt`",
    ),
    "ID token": (lambda p: p.token({**SOUND, "at_hash": "x"}), "wrong type", 401, "it is an ID token"),
    "bound": (lambda p: p.token({**SOUND, "cnf": {"jkt": "x"}}), "not a bearer token", 401, "bound to a key"),
    "no expiry": (lambda p: p.token({**SOUND, "exp": None}), "missing claim", 401, "it has no claim `exp`"),
    "endless": (lambda p: p.token(SOUND, lifetime_s=10**9), "too long valid", 401, "at most 86400 s (`max_lifetime`)"),
    "odd expiry": (lambda p: p.token({**SOUND, "exp": 1e308}), "malformed", 401, "are not all times"),
    "no subject": (lambda p: p.token({**SOUND, "sub": None}), "missing claim", 401, "it has no claim `sub`"),
    "unmapped": (lambda p: p.token({"org": "acme"}), "unmapped", 403, "no row matches its claims; it has `aud`, "),
    "two tenants": (
        lambda p: p.token({**SOUND, "https://id.example/team": "globex"}),
        "two tenants",
        403,
        "rows of different tenants match its claims",
    ),
    "unknown tenant": (
        lambda p: p.token({"kind": "any", "org": "umbrella"}),
        "unknown tenant",
        403,
        "its claim `org` names `umbrella` as its tenant, and the bundle has no such tenant",
    ),
    "no tenant": (lambda p: p.token({"kind": "any"}), "unknown tenant", 403, "names none as its tenant"),
    "not served": (lambda p: p.token({"kind": "gone"}), "not served", 403, "no agent that exists"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(issuer: IdentityProvider, judge: Judge, case: str) -> None:
    """Each unsound token is refused with its own words, and with the status that the standards have for it."""
    make, kind, status, words = REFUSED[case]
    token = make(issuer)
    refusal = judge(token)
    assert isinstance(refusal, TokenRefusal)
    assert (refusal.kind, refusal.status) == (kind, status)
    assert words in refusal.words
    assert not any(part and part in refusal.words for part in token.split(".") if len(part) > 12)


def test_settings_of_a_provider_refuse_more(issuer: IdentityProvider, judge: Judge) -> None:
    """It can ask for the type of RFC 9068, for scopes, for algorithms and for a shorter life."""

    def refusal(token: str, **changes: Any) -> TokenRefusal:
        decision = judge(token, **changes)
        assert isinstance(decision, TokenRefusal)
        return decision

    assert refusal(issuer.token(SOUND, header={"typ": "JWT"}), require_at_jwt=True).kind == "wrong type"
    assert refusal(issuer.token(SOUND), algorithms=("RS256",)).kind == "wrong algorithm"
    assert refusal(issuer.token(SOUND, lifetime_s=600), max_lifetime_s=300.0).kind == "too long valid"
    lacking = refusal(issuer.token({**SOUND, "scope": "mcp other"}), scopes=("mcp", "write"))
    assert (lacking.kind, lacking.status, lacking.code) == ("missing scope", 403, "insufficient_scope")
    assert "it has no scope `write`" in lacking.words
    assert isinstance(judge(issuer.token({**SOUND, "scp": ["mcp", "write"]}), scopes=("mcp", "write")), Admitted)


def test_mutations_of_a_token_are_refused(issuer: IdentityProvider) -> None:
    """No other text than the token itself is accepted: characters changed, added, removed, swapped and cut."""
    provider = OidcProvider(name="acme", issuer=issuer.issuer, audiences=(AUDIENCE,), access=ROWS)
    verifier = TokenVerifier(lambda _: True, lambda: frozenset({"acme"}))
    verifier.use(ServeSettings(oidc=(provider,), closed=True))
    token = issuer.token(SOUND)
    assert isinstance(asyncio.run(verifier.decide(token)), Admitted)
    chance = random.Random(21)
    alphabet = "ABCabc019-_.=+/ \n\x00é{"
    for _ in range(300):
        at, other = chance.randrange(len(token)), chance.randrange(len(token))
        one = chance.choice(alphabet)
        mutated = chance.choice([
            token[:at] + one + token[at + 1 :],
            token[:at] + one + token[at:],
            token[:at] + token[at + 1 :],
            token[:at],
            token[:at] + token[other:],
        ])  # fmt: skip
        assert mutated == token or isinstance(verifier.judge(mutated), TokenRefusal), mutated
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        mutated = token[:-1] + last  # the last character has bits that decode to nothing
        assert mutated == token or isinstance(verifier.judge(mutated), TokenRefusal), last


def test_refusals_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A kind of refusal has a line in 10 s at most, and the next line has the number of those between."""
    times = iter([0.0, 1.0, 2.0, 11.0])
    log = RefusalLog(lambda: next(times))
    for _ in range(4):
        log.note(TokenRefusal(kind="expired", words="it expired 5 s ago", provider="acme"))
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "an access token of provider `acme` is refused, expired: it expired 5 s ago"
    assert second == f"{first} (2 more of this kind since the last line)"


def test_refused_tokens_of_octoc_are_logged_with_where_they_came_from(caplog: pytest.LogCaptureFixture) -> None:
    """An unknown or revoked token has a line with the client's address, in 10 s at most one."""
    times = iter([0.0, 1.0, 11.0])
    log = RefusalLog(lambda: next(times))
    for _ in range(3):
        log.note_unknown("10.1.2.3")
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "a token is refused that is not known, or no longer; it came from 10.1.2.3"
    assert second == f"{first} (1 more of this kind since the last line)"
