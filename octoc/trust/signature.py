"""The signature file: what a signature says of a bundle, in an envelope of DSSE, the Dead Simple Signing Envelope.

The signature is over the payload's exact bytes and their type, in DSSE's pre-authentication encoding: nothing has to be
brought into a canonical form before it is verified, and a signature of another type of payload never fits.
"""

from __future__ import annotations

import contextlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.codec import decode, encode
from octoc.bundle.digest import canonical_json
from octoc.bundle.refusal import BundleError

MAX_BYTES = 16 * 1024
MAX_REVISION = 2**53 - 1
_KEY_ID = re.compile("[0-9a-f]{16}")
PAYLOAD_TYPE = "application/vnd.octoc.signature.v1+json"


class SignatureFormatError(Exception):
    """A text is not a signature of a bundle; the message says why."""


@attrs.frozen(kw_only=True)
class Statement:
    """What a signature says of a bundle.

    Args:
        name: the bundle's name.
        sha256: of all bytes of the file, 64 hex digits; `size` is their number.
        revision: from 1; a newer bundle of the same name has a higher one.
        expires: when the signature ends, `2027-01-31T12:00:00Z`.
        key: the id of the key that signed.
    """

    name: str
    sha256: str
    size: int
    revision: int
    expires: str
    key: str


@attrs.frozen(kw_only=True)
class Envelope:
    """A signature file. Only `payload` and `payload_type` are signed: `key` says which key to try."""

    payload: bytes
    payload_type: str
    key: str
    signature: bytes

    def encoded(self) -> bytes:
        """Return the file's bytes: there is one form of each envelope."""
        signatures = [{"keyid": self.key, "sig": _text(self.signature)}]
        fields = {"payload": _text(self.payload), "payloadType": self.payload_type, "signatures": signatures}
        return canonical_json(fields) + b"\n"


def signature_path(bundle: str | Path) -> Path:
    """Return where the signature of a bundle is: that of `acme.octoc` is `acme.octoc.sig`, beside it."""
    return Path(f"{bundle}.sig")


def to_sign(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that a signature is over: DSSE's pre-authentication encoding. Lengths are in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def read_envelope(data: bytes) -> Envelope:
    """Return the envelope in a signature file. Raises: SignatureFormatError."""
    try:
        fields = json.loads(data)
        (one,) = fields["signatures"]
        envelope = Envelope(
            payload=b64decode(fields["payload"], validate=True),
            payload_type=_string(fields["payloadType"]),
            key=_string(one["keyid"]),
            signature=b64decode(one["sig"], validate=True),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SignatureFormatError("it is not what `octoc build --sign` writes") from None
    # A second form of the same signature has no use, so each changed byte counts, also a space.
    if envelope.encoded() != data:
        raise SignatureFormatError("it is not in the form that `octoc build --sign` writes")
    # No text of the file is shown before it is verified: it could be terminal sequences.
    if envelope.payload_type != PAYLOAD_TYPE:
        raise SignatureFormatError(f"its payload has another type than `{PAYLOAD_TYPE}`")
    if not _KEY_ID.fullmatch(envelope.key):
        raise SignatureFormatError("its `keyid` is not the id of a key, 16 hex digits")
    return envelope


def signature_file(statement: Statement, sign: Callable[[bytes], bytes]) -> bytes:
    """Return the signature file that says `statement`; `sign` makes the raw signature of some bytes."""
    payload = payload_of(statement)
    signature = sign(to_sign(PAYLOAD_TYPE, payload))
    return Envelope(payload=payload, payload_type=PAYLOAD_TYPE, key=statement.key, signature=signature).encoded()


def payload_of(statement: Statement) -> bytes:
    """Return the payload that says what `statement` says."""
    return canonical_json(encode(statement))


def read_statement(payload: bytes) -> Statement:
    """Return what a payload says; its signature must have been verified. Raises: SignatureFormatError."""
    try:
        statement = decode(Statement, json.loads(payload))
        time_of(statement.expires)
    except (ValueError, RecursionError, BundleError):
        raise SignatureFormatError("its payload is not a statement about a bundle") from None
    if payload_of(statement) != payload or not 1 <= statement.revision <= MAX_REVISION:
        raise SignatureFormatError("its payload is not in the form that octoc writes")
    return statement


def time_of(text: str) -> datetime:
    """Return the time that a text such as `2027-01-31T12:00:00Z` names. Raises: ValueError."""
    with contextlib.suppress(ValueError):
        time = datetime.fromisoformat(text if text.endswith("Z") else "")
        if text_of(time) == text:
            return time
    raise ValueError("expected a time such as `2027-01-31T12:00:00Z`")


def text_of(time: datetime) -> str:
    """Return a time as text, in UTC and to the second."""
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
