"""An identity provider on the loopback with real keys: its metadata, its key set, and access tokens."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal

import attrs

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

AUDIENCE = "https://tools.acme.example/mcp"
Mood = Literal["up", "down", "silent", "moved", "foreign"]
"""How a provider answers: rightly; with 503; not at all, until it is up; with a redirect; as another issuer."""


@attrs.frozen(eq=False)
class IssuerKey:
    """A key of the provider, for ES256."""

    id: str
    private: EllipticCurvePrivateKey = attrs.field(repr=False)


@attrs.define
class IdentityProvider:
    """A provider and its keys; a test may change both while it runs.

    `published` are the keys in its key set, the last of which signs. `paths` are the paths that it was asked for.
    """

    issuer: str = ""
    mood: Mood = "up"
    published: list[IssuerKey] = attrs.field(factory=list)
    paths: list[str] = attrs.field(factory=list)
    changed: threading.Event = attrs.field(factory=threading.Event)

    def rotate(self) -> IssuerKey:
        """Publish a new key beside the others and sign with it."""
        self.published.append(new_key())
        return self.published[-1]

    def jwks(self) -> dict[str, Any]:
        """Return the key set."""
        from jwt.algorithms import ECAlgorithm

        keys: list[dict[str, Any]] = []
        for key in self.published:
            public = ECAlgorithm.to_jwk(key.private.public_key(), as_dict=True)
            keys.append({**public, "kid": key.id, "use": "sig", "alg": "ES256"})
        return {"keys": keys}

    def token(
        self,
        claims: Mapping[str, Any] | None = None,
        *,
        key: IssuerKey | None = None,
        header: Mapping[str, Any] | None = None,
        lifetime_s: float = 300.0,
    ) -> str:
        """Return an access token for `AUDIENCE` as RFC 9068 asks.

        `claims` and `header` change it; a claim that is None is left out.
        """
        import jwt

        signing = key or self.published[-1]
        now = int(time.time())
        usual: dict[str, Any] = {
            "iss": self.issuer,
            "sub": "u-1",
            "aud": AUDIENCE,
            "client_id": "cli",
            "iat": now,
            "exp": now + lifetime_s,
            "jti": secrets.token_hex(8),
        }
        content = {name: value for name, value in {**usual, **(claims or {})}.items() if value is not None}
        head = {"typ": "at+jwt", "kid": signing.id, **(header or {})}
        return jwt.encode(content, signing.private, "ES256", headers=head)


def new_key() -> IssuerKey:
    """Return a new key with an id of its own."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return IssuerKey(secrets.token_hex(4), ec.generate_private_key(ec.SECP256R1()))


@contextlib.contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    """Run a provider with one key on a free port of this machine, in a thread."""
    state = IdentityProvider(published=[new_key()])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.paths.append(self.path)
            if state.mood == "silent":
                state.changed.wait(60)
            status, document = _answer(state, self.path)
            body = json.dumps(document).encode()
            with contextlib.suppress(OSError):  # its client has stopped to wait
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                if state.mood == "moved":
                    self.send_header("Location", "https://elsewhere.example/")
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.changed.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(state: IdentityProvider, path: str) -> tuple[int, Any]:
    if state.mood == "down":
        return 503, {"error": "temporarily_unavailable"}
    if state.mood == "moved":
        return 302, {}
    if path == "/.well-known/openid-configuration":
        issuer = "https://foreign.example" if state.mood == "foreign" else state.issuer
        return 200, {"issuer": issuer, "jwks_uri": f"{state.issuer}/keys"}
    return (200, state.jwks()) if path == "/keys" else (404, {})
