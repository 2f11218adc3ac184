"""The trust file: the keys whose signatures count, and what they may sign. It is JSON, as the runtime reads it."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.codec import decode
from octoc.bundle.refusal import BundleError
from octoc.small_files import UnreadableFileError, small_bytes
from octoc.trust.keys import PUBLIC_BYTES, key_id
from octoc.trust.refusal import UntrustedBundleError
from octoc.trust.signature import time_of

VERSION = 1
MAX_BYTES = 1024 * 1024
_HELP = "correct the file, or write a new one with `octoc keygen`; `octoc explain OCT771` lists its keys"


@attrs.frozen(kw_only=True)
class _KeyEntry:
    id: str
    public_key: str
    names: tuple[str, ...] | None = None
    not_after: str | None = None
    comment: str = ""


@attrs.frozen(kw_only=True)
class _Fields:
    version: int
    keys: tuple[_KeyEntry, ...]
    name: str | None = None
    minimum_revision: Mapping[str, int] = attrs.field(factory=dict)
    state: str | None = ""


@attrs.frozen(kw_only=True)
class TrustedKey:
    """A key whose signatures count.

    Args:
        public: the raw public key.
        names: the bundles that it may sign, None for all.
        not_after: when its signatures cease to count, None for never.
    """

    public: bytes
    names: tuple[str, ...] | None
    not_after: datetime | None


@attrs.frozen(kw_only=True)
class TrustFile:
    """A trust file.

    Args:
        keys: by id.
        name: the name that a bundle must be signed with, None for the name of its file without the suffix.
        minimum_revision: name of a bundle -> the lowest revision that counts.
        state: the file of the highest revisions seen; None remembers none.
    """

    path: Path
    keys: Mapping[str, TrustedKey]
    name: str | None
    minimum_revision: Mapping[str, int]
    state: Path | None


def read_trust_file(path: str | Path) -> TrustFile:
    """Return what a trust file says. Raises: UntrustedBundleError of kind `bad-trust-file`."""
    where = Path(path)
    try:
        fields = _fields(small_bytes(str(path), MAX_BYTES))
        keys = [(one.id, _key(one)) for one in fields.keys]
    except FileNotFoundError:
        raise _refused(path, f"there is no trust file at `{path}`", "`octoc keygen` writes one") from None
    except UnreadableFileError as error:
        help_ = "make it a file that this user may read"
        raise _refused(path, f"the trust file `{path}` cannot be read: {error}", help_) from None
    except BundleError as error:
        raise _refused(path, f"the trust file `{path}` is malformed: {error}") from None
    if not keys:
        raise _refused(path, f"the trust file `{path}` has no key, so no bundle could be opened")
    if len(dict(keys)) != len(keys):
        raise _refused(path, f"the trust file `{path}` has two keys with one id")
    state = None if fields.state is None else where.parent / (fields.state or f"{where.stem}.state.json")
    return TrustFile(
        path=where, keys=dict(keys), name=fields.name, minimum_revision=fields.minimum_revision, state=state
    )


def with_key(data: bytes | None, public: bytes, comment: str = "") -> str:
    """Return the text of a trust file with one more key; `data` is a sound file, None for a new one."""
    fields: dict[str, Any] = {"version": VERSION, "keys": []} if data is None else raw_fields(data)
    entry = {"id": key_id(public), "public_key": b64encode(public).decode()}
    fields["keys"] = [*fields["keys"], {**entry, "comment": comment} if comment else entry]
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def raw_fields(data: bytes) -> dict[str, Any]:
    """Return a JSON object in which no key occurs twice. Raises: BundleError."""
    try:
        fields = json.loads(data, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        raise BundleError("it is not JSON") from None
    if not isinstance(fields, dict):
        raise BundleError("it is not a JSON object")
    return fields


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BundleError("a key occurs twice in one object")
    return fields


def _fields(data: bytes) -> _Fields:
    raw = raw_fields(data)
    if raw.get("version") != VERSION:
        raise BundleError(f"expected `version` {VERSION}")
    fields = decode(_Fields, raw)
    # An unknown key may be a misspelled limit, without which the file would allow more than its author meant.
    _only_known(_Fields, raw)
    for number, one in enumerate(raw["keys"]):
        try:
            _only_known(_KeyEntry, one)
        except BundleError as error:
            raise error.under(number).under("keys") from None
    return fields


def _only_known(cls: type[attrs.AttrsInstance], raw: Mapping[str, Any]) -> None:
    known = attrs.fields_dict(cls)
    for name in raw:
        if name not in known:
            raise BundleError(f"`{name}` is not a key of a trust file: expected one of {', '.join(known)}")


def _key(entry: _KeyEntry) -> TrustedKey:
    try:
        public = b64decode(entry.public_key, validate=True)
    except ValueError:
        public = b""
    if len(public) != PUBLIC_BYTES:
        what = f"an Ed25519 key: expected {PUBLIC_BYTES} bytes in base64"
        raise BundleError(f"`public_key` of key `{entry.id}` is not {what}")
    try:
        not_after = None if entry.not_after is None else time_of(entry.not_after)
    except ValueError as error:
        raise BundleError(f"`not_after` of key `{entry.id}`: {error}") from None
    if entry.id != key_id(public):
        raise BundleError(f"`id` of key `{entry.id}` does not fit its `public_key`, whose id is `{key_id(public)}`")
    return TrustedKey(public=public, names=entry.names, not_after=not_after)


def _refused(path: str | Path, reason: str, help_: str = _HELP) -> UntrustedBundleError:
    return UntrustedBundleError("bad-trust-file", reason, help_, str(path))
