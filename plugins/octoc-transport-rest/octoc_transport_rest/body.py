"""Reads a body that may be long, compressed or both, and never holds more than the limit."""

from __future__ import annotations

import codecs
import contextlib
import zlib

import attrs
import httpx2

from octoc.plugin import Truncation

_GZIP = 16 + zlib.MAX_WBITS


class BrokenBodyError(Exception):
    """A body cannot be decoded; the message gives the reason in a few words."""


@attrs.frozen(kw_only=True)
class Body:
    """The first bytes of a body, decompressed. `original` is the number of all bytes if known, else of those seen."""

    data: bytes
    original: int

    @property
    def cut(self) -> bool:
        return self.original > len(self.data)

    def text(self) -> tuple[str, Truncation]:
        """Return a cut body as text that ends with a whole character, and the record of the cut."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(self.data)
        kept = len(self.data) - len(decoder.getstate()[0])
        return text, Truncation(stage="transport", original=self.original, kept=kept, unit="bytes")


async def read_body(response: httpx2.Response, limit: int) -> Body:
    """Return the first `limit` bytes of a response's body, decompressed; do not read the rest.

    Raises: BrokenBodyError, and what httpx2 raises.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip"}:
        raise BrokenBodyError(f"content encoding `{encoding}`, which was not asked for")
    # httpx2 would decompress each piece as a whole, without a limit.
    unzip = zlib.decompressobj(_GZIP) if "gzip" in encoding else None
    kept = bytearray()
    arrived = 0
    async with contextlib.aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            arrived += len(piece)
            kept += piece if unzip is None else _unzipped(unzip, piece, limit + 1 - len(kept))
            if len(kept) > limit or arrived > limit:
                seen = max(len(kept), arrived)
                return Body(data=bytes(kept[:limit]), original=max(seen, _announced(response, plain=unzip is None)))
    if unzip is not None and arrived and not unzip.eof:
        raise BrokenBodyError("gzip that ends too early")
    return Body(data=bytes(kept), original=len(kept))


def _unzipped(unzip: zlib._Decompress, piece: bytes, most: int) -> bytes:
    if unzip.eof:
        raise BrokenBodyError("gzip with something after its end")
    try:
        return unzip.decompress(piece, most)
    except zlib.error:
        raise BrokenBodyError("broken gzip") from None


def _announced(response: httpx2.Response, *, plain: bool) -> int:
    length = response.headers.get("Content-Length", "")
    return int(length[:18]) if plain and length.isascii() and length.isdigit() else 0
