"""Verifies a bundle's signature over its exact bytes, before anything parses them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.bundle.file import bundle_file
from octoc.small_files import UnreadableFileError, small_bytes
from octoc.trust.keys import SIGNATURE_BYTES, is_signed
from octoc.trust.refusal import Distrust, UntrustedBundleError
from octoc.trust.revisions import remember, seen
from octoc.trust.signature import (
    MAX_BYTES,
    Envelope,
    SignatureFormatError,
    Statement,
    read_envelope,
    read_statement,
    signature_path,
    text_of,
    time_of,
    to_sign,
)
from octoc.trust.trust_file import TrustedKey, TrustFile, read_trust_file

_SIGN = "sign it: `octoc build --sign KEY --revision N`"
_COPY = "copy the bundle and its signature again, or build and sign it again"


@attrs.frozen(kw_only=True, eq=False)
class VerifiedBundle:
    """The bytes of a bundle whose signature was verified, and what the signature says of them."""

    file: str
    data: bytes
    statement: Statement
    trust: TrustFile

    def check_name(self, own: str) -> None:
        """Compare the name that the bundle has in itself. Raises: UntrustedBundleError."""
        if own != self.statement.name:
            reason = f"it is bundle `{own}`, but signed as `{self.statement.name}`"
            raise UntrustedBundleError("other-name", reason, _COPY, self.file)

    def take(self, own: str) -> None:
        """Remember the revision of the bundle, whose own name is `own`. Raises: UntrustedBundleError."""
        self.check_name(own)
        if self.trust.state is not None:
            highest = remember(self.trust.state, own, self.statement.revision)
            _check_revision(self.file, self.statement, highest, f"`{self.trust.state}` has revision")


def read_verified(path: str | Path, trust: str | Path) -> VerifiedBundle:
    """Return the bytes of the bundle at `path` if a key of the trust file signed them.

    Raises: UntrustedBundleError; BundleFileError if the bundle cannot be read.
    """
    file = str(path)
    known = read_trust_file(trust)
    with bundle_file(path) as handle:
        statement = _statement(file, known)
        _check_statement(file, statement, known)
        # The file may grow meanwhile: no more is read than was signed.
        is_as_long = os.fstat(handle.fileno()).st_size == statement.size
        data = handle.read(statement.size) if is_as_long else b""
    if not is_as_long or sha256_hex(data) != statement.sha256:
        reason = "its bytes are not those that were signed"
        raise UntrustedBundleError("altered", reason, _COPY, file)
    return VerifiedBundle(file=file, data=data, statement=statement, trust=known)


def _statement(file: str, trust: TrustFile) -> Statement:
    """Return what the signature of a bundle says, after verifying that a trusted key made it."""
    where = str(signature_path(file))

    def refused(kind: Distrust, reason: str, help_: str = _SIGN) -> UntrustedBundleError:
        return UntrustedBundleError(kind, reason, help_, file)

    try:
        envelope = read_envelope(small_bytes(where, MAX_BYTES))
        key = _key(file, envelope, trust)
        if not is_signed(to_sign(envelope.payload_type, envelope.payload), envelope.signature, key.public):
            reason = f"the signature in `{where}` is not one that key `{envelope.key}` made of this text"
            raise refused("wrong-signature", reason, _COPY)
        statement = read_statement(envelope.payload)
    except FileNotFoundError:
        raise refused("unsigned", f"it is not signed: there is no `{where}`") from None
    except UnreadableFileError as error:
        raise refused("malformed-signature", f"the signature `{where}` cannot be read: {error}", _COPY) from None
    except SignatureFormatError as error:
        raise refused("malformed-signature", f"`{where}` is not a signature: {error}") from None
    if statement.key != envelope.key:
        raise refused("wrong-signature", f"`{where}` names key `{envelope.key}`, but key `{statement.key}` in its text")
    if key.not_after is not None and key.not_after < datetime.now(UTC):
        reason = f"key `{envelope.key}` signed it, whose signatures count until {text_of(key.not_after)} only"
        raise refused("key-expired", reason, f"sign it with a newer key, or correct `not_after` in `{trust.path}`")
    if key.names is not None and statement.name not in key.names:
        reason = f"key `{envelope.key}` may not sign bundle `{statement.name}`: the trust file names others"
        raise refused("name-not-allowed", reason, f"sign it with another key, or correct `names` in `{trust.path}`")
    return statement


def _key(file: str, envelope: Envelope, trust: TrustFile) -> TrustedKey:
    if len(envelope.signature) != SIGNATURE_BYTES:
        reason = f"its signature has {len(envelope.signature)} bytes, and one of Ed25519 has {SIGNATURE_BYTES}"
        raise UntrustedBundleError("other-algorithm", reason, _SIGN, file)
    key = trust.keys.get(envelope.key)
    if key is None:
        reason = f"it is signed, but by key `{envelope.key}`, which is not in the trust file `{trust.path}`"
        help_ = "sign it with a key of the trust file, or add this one if it is yours"
        raise UntrustedBundleError("unknown-key", reason, help_, file)
    return key


def _check_statement(file: str, statement: Statement, trust: TrustFile) -> None:
    expected = trust.name or Path(file).stem
    if statement.name != expected:
        source = "the trust file" if trust.name else "the file's name"
        reason = f"it is signed as bundle `{statement.name}`, and {source} says `{expected}`"
        help_ = f"use the bundle of that name, or set `name` in `{trust.path}` to `{statement.name}`"
        raise UntrustedBundleError("other-name", reason, help_, file)
    if time_of(statement.expires) <= datetime.now(UTC):
        raise UntrustedBundleError("expired", f"its signature expired at {statement.expires}", _SIGN, file)
    _check_revision(file, statement, trust.minimum_revision.get(statement.name, 0), "the trust file wants at least")
    if trust.state is not None:
        highest = seen(trust.state).get(statement.name, 0)
        _check_revision(file, statement, highest, f"`{trust.state}` has revision")


def _check_revision(file: str, statement: Statement, lowest: int, source: str) -> None:
    if statement.revision < lowest:
        reason = f"it is an older bundle: it has revision {statement.revision}, and {source} {lowest}"
        help_ = "deploy the newest bundle, or build this one again with a higher `--revision`"
        raise UntrustedBundleError("rolled-back", reason, help_, file)
