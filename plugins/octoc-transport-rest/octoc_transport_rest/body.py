"""Reading a body that may be long, compressed or both, without ever holding more than the limit."""

from __future__ import annotations

import codecs
import contextlib
import zlib

import attrs
import httpx2

from octoc.results import Truncation

_GZIP = 16 + zlib.MAX_WBITS


class BrokenBody(Exception):  # noqa: N818  # a state of the world, not a fault in the program
    """A body that cannot be decoded; the message says how, in a few words."""


@attrs.frozen(kw_only=True)
class Body:
    """The first bytes of a body, decompressed. `original` counts them all, as far as known: else what was seen."""

    data: bytes
    original: int

    @property
    def cut(self) -> bool:
        return self.original > len(self.data)

    def text(self) -> tuple[str, Truncation]:
        """Return a cut body as text, without the character that the cut goes through, and the record of the cut."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(self.data)
        kept = len(self.data) - len(decoder.getstate()[0])
        return text, Truncation(stage="transport", original=self.original, kept=kept, unit="bytes")


async def read_body(response: httpx2.Response, limit: int) -> Body:
    """Return a response's body up to `limit` bytes, compressed or not; the rest is not read.

    Raises: BrokenBody, and what httpx2 raises.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip"}:
        raise BrokenBody(f"content encoding `{encoding}`, which was not asked for")
    # httpx2 would decompress each piece whole, whatever comes out.
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
        raise BrokenBody("gzip that ends too early")
    return Body(data=bytes(kept), original=len(kept))


def _unzipped(unzip: zlib._Decompress, piece: bytes, most: int) -> bytes:
    if unzip.eof:
        raise BrokenBody("gzip with something after its end")
    try:
        return unzip.decompress(piece, most)
    except zlib.error:
        raise BrokenBody("broken gzip") from None


def _announced(response: httpx2.Response, *, plain: bool) -> int:
    length = response.headers.get("Content-Length", "")
    return int(length[:18]) if plain and length.isascii() and length.isdigit() else 0
