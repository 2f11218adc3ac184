"""The public keys of a provider, by id and algorithm. Source: RFC 7517, RFC 7518."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import attrs
import jwt

MAX_KEYS = 100
MIN_RSA_BITS = 2048
_OF_KIND = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("EdDSA",),
}


@attrs.frozen
class KeySet:
    """The usable keys: (id, algorithm) -> key. A key without an id has the empty one."""

    keys: Mapping[tuple[str, str], jwt.PyJWK]

    def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key that verifies a token; a token without an id may mean the only key of its algorithm."""
        if key_id is not None:
            return self.keys.get((key_id, algorithm))
        fitting = [key for (_, one), key in self.keys.items() if one == algorithm]
        return fitting[0] if len(fitting) == 1 else None


def key_set(text: bytes, algorithms: Collection[str]) -> KeySet:
    """Return the keys of a JWK set that verify signatures by one of `algorithms`; other entries are ignored.

    Raises: ValueError if the text is not a JWK set, or has no such key.
    """
    try:
        entries = json.loads(text)["keys"][:MAX_KEYS]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("what it has at the address of its keys is not a JWK set") from None
    found: dict[tuple[str, str], jwt.PyJWK] = {}
    doubled: set[tuple[str, str]] = set()
    for entry in entries:
        for algorithm in _algorithms_of(entry):
            key = _key(entry, algorithm) if algorithm in algorithms else None
            if key is None:
                continue
            name = (str(entry.get("kid", "")), algorithm)
            doubled |= {name} & found.keys()
            found[name] = key
    usable = {name: key for name, key in found.items() if name not in doubled}
    if not usable:
        raise ValueError("none of its keys can be used: expected one of the provider's `algorithms`, RSA of 2048 bits")
    return KeySet(usable)


def _algorithms_of(entry: Any) -> tuple[str, ...]:
    """Return the algorithms that a public key may verify: the one that it names, else those of its kind."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return ()
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return ()
    fitting = _OF_KIND.get(str(entry.get("kty") if entry.get("kty") == "RSA" else entry.get("crv")), ())
    own = entry.get("alg")
    if own is None:
        return fitting
    return (own,) if own in fitting else ()


def _key(entry: Mapping[str, Any], algorithm: str) -> jwt.PyJWK | None:
    try:
        key = jwt.PyJWK(dict(entry), algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    is_short = key.key_type == "RSA" and key.key.key_size < MIN_RSA_BITS
    is_private = "d" in entry  # a provider that publishes this has lost it
    return None if is_short or is_private else key
