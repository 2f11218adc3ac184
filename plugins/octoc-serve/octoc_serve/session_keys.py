"""Keys that seal session ids and encrypt values in the store: the first one seals, each one opens."""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

import attrs

from octoc_serve.settings import GatewayError

KEYS_VARIABLE = "OCTOC_SESSION_KEYS"
KEY_BYTES = 32
NONCE_BYTES = 12
_MAKE = "`openssl rand -base64 32` makes a key; one a line"


@attrs.frozen
class SessionKey:
    """A key. `id` names it in what it seals, and tells nothing about it; the other two are derived from it."""

    id: str
    for_ids: bytes = attrs.field(repr=False)
    for_values: bytes = attrs.field(repr=False)


@attrs.frozen
class SessionKeys:
    """The keys by id, the one that seals first."""

    by_id: Mapping[str, SessionKey]

    @property
    def first(self) -> SessionKey:
        """The key that seals."""
        return next(iter(self.by_id.values()))


def read_keys(file: Path | None) -> SessionKeys | None:
    """Return the keys of a file, by default those of the variable OCTOC_SESSION_KEYS; None for neither.

    Raises: GatewayError.
    """
    if file is None:
        text = os.environ.get(KEYS_VARIABLE, "")
        return parse_keys(text.replace(",", "\n"), f"variable `{KEYS_VARIABLE}`") if text.strip() else None
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise GatewayError(f"the file of keys `{file}` has mode {mode:o}: expected 600", f"chmod 600 '{file}'")
            text = opened.read().decode("utf-8", "replace")
    except OSError as error:
        raise GatewayError(f"the file of keys `{file}` cannot be read: {error.strerror}", _MAKE) from None
    return parse_keys(text, f"file `{file}`")


def parse_keys(text: str, where: str) -> SessionKeys:
    """Return the keys of a text: one a line, 32 bytes in base64. Raises: GatewayError, with no piece of a key."""
    keys: dict[str, SessionKey] = {}
    for number, line in enumerate(text.splitlines(), 1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        try:
            raw = base64.b64decode(written, altchars=b"-_" if set("-_") & set(written) else None, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != KEY_BYTES:
            raise GatewayError(f"{where}, line {number}: expected {KEY_BYTES} bytes in base64", _MAKE)
        key = SessionKey(
            _derived(raw, b"octoc key id", 4).hex(), _derived(raw, b"octoc ids"), _derived(raw, b"octoc values")
        )
        keys[key.id] = key
    if not keys:
        raise GatewayError(f"{where} has no key", _MAKE)
    return SessionKeys(keys)


def _derived(raw: bytes, purpose: bytes, length: int = KEY_BYTES) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=None, info=purpose).derive(raw)


def seal(key: bytes, data: bytes, bound: bytes) -> bytes:
    """Return data encrypted with AES-256-GCM, after its random nonce; only the same `bound` opens it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, data, bound)


def unseal(key: bytes, data: bytes, bound: bytes) -> bytes | None:
    """Return what `seal` encrypted; None if it was altered, or another key or other bounds were used."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(data) < NONCE_BYTES:
        return None
    try:
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound)
    except InvalidTag:
        return None


@attrs.define
class ValueCipher:
    """Encrypts values in the store. Each is bound to its key there: one in the place of another does not open."""

    keys: SessionKeys

    def sealed(self, text: str, collection: str, key: str) -> str:
        """Return a text encrypted with the first key."""
        own = self.keys.first
        data = seal(own.for_values, text.encode("utf-8", "surrogatepass"), _bound(collection, key))
        return f"{own.id}.{base64.b64encode(data).decode()}"

    def opened(self, sealed: str, collection: str, key: str) -> str:
        """Return the text. Raises: ValueError if it was altered, or its key is unknown."""
        name, _, encoded = sealed.partition(".")
        own = self.keys.by_id.get(name)
        data = None if own is None else unseal(own.for_values, base64.b64decode(encoded), _bound(collection, key))
        if data is None:
            raise ValueError("not sealed by this gateway")
        return data.decode("utf-8", "surrogatepass")


def _bound(collection: str, key: str) -> bytes:
    return f"{collection}\0{key}".encode()
