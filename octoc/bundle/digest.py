"""One way to write JSON and one digest of it, so that equal values have equal bytes everywhere."""

from __future__ import annotations

from json.encoder import JSONEncoder
from typing import Any

# Made once: `json.dumps` with options makes an encoder in each call.
_encoded = JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def canonical_json(value: Any) -> bytes:
    """Return `value` as JSON: keys sorted, no spaces, UTF-8, no NaN or infinity.

    A lone surrogate, which UTF-8 cannot hold, stays the escape that JSON has for it.

    Raises: ValueError for NaN, an infinity or a cycle; TypeError for what JSON has no form for.
    """
    return _encoded(value).encode("utf-8", "backslashreplace")


def sha256_hex(data: bytes | bytearray | memoryview) -> str:
    """Return the sha256 of `data` as 64 hex digits."""
    import hashlib  # not at the top: it loads OpenSSL, and importing the runtime digests nothing

    return hashlib.sha256(data).hexdigest()
