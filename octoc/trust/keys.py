"""Ed25519 keys, through `cryptography`, which octoc loads only where a signature is made or verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from octoc.bundle.digest import sha256_hex

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64


class KeyFormatError(Exception):
    """A text is not a private key that octoc signs with. The message says why and has nothing of the text."""


@attrs.frozen(repr=False, eq=False)
class SigningKey:
    """A private key."""

    _key: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        """The raw public key."""
        return self._key.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        return key_id(self.public)

    def sign(self, data: bytes) -> bytes:
        """Return the signature of `data`."""
        return self._key.sign(data)

    def pem(self) -> bytes:
        """Return the private key as PEM, PKCS #8 without a passphrase."""
        from cryptography.hazmat.primitives import serialization

        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def key_id(public: bytes) -> str:
    """Return the id of a raw public key: the first 16 hex digits of its SHA-256."""
    return sha256_hex(public)[:16]


def new_key() -> SigningKey:
    """Return a new private key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return SigningKey(Ed25519PrivateKey.generate())


def read_key(pem: bytes) -> SigningKey:
    """Return the private key of a PEM text. Raises: KeyFormatError."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except TypeError:
        raise KeyFormatError("it has a passphrase, which octoc cannot ask for") from None
    except (ValueError, UnsupportedAlgorithm):
        kind = "a public key" if b"PUBLIC KEY" in pem else "not a private key in PEM"
        raise KeyFormatError(f"it is {kind}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFormatError("it is a key of another algorithm than Ed25519")
    return SigningKey(key)


def is_signed(data: bytes, signature: bytes, public: bytes) -> bool:
    """Tell whether `signature` is one of `data`, made with the private key of the raw `public` key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except InvalidSignature:
        return False
    return True
