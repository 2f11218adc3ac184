"""A bundle's bytes: the same bundle, blobs, arrays and encoder files always give the same ones."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.arrays import npy_bytes
from octoc.bundle.codec import encode
from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.layout import (
    BLOBS,
    FORMAT_NAME,
    FORMAT_REVISION,
    FORMAT_VERSION,
    INDEX,
    PARTS,
    BundleMember,
    frame,
)
from octoc.bundle.model import Bundle, Slice
from octoc.bundle.offers import OFFERS, Offers
from octoc.bundle.registries import packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BlobBuilder:
    """Collects pieces of one blob, each different one once. The empty piece is `Slice(0, 0)`."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._slices: dict[bytes, Slice] = {b"": Slice(0, 0)}
        self._size = 0

    def add(self, piece: bytes) -> Slice:
        """Store a piece and return where it is."""
        known = self._slices.get(piece)
        if known is None:
            known = self._slices[piece] = Slice(self._size, len(piece))
            self._pieces.append(piece)
            self._size += len(piece)
        return known

    def add_text(self, text: str) -> Slice:
        """Store a text as UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes `?`."""
        return self.add(text.encode("utf-8", "replace"))

    @property
    def data(self) -> bytes:
        return b"".join(self._pieces)


@attrs.frozen(kw_only=True, eq=False)
class Parts:
    """A bundle before it is one file: `index` is what `bundle.json` says of it, `members` are all others by name."""

    index: Mapping[str, Any]
    members: Mapping[str, bytes]


def write_bundle(
    bundle: Bundle,
    *,
    blobs: Mapping[str, bytes],
    arrays: Mapping[str, NDArray[np.generic]] | None = None,
    encoder_files: Mapping[str, bytes] | None = None,
    offers: Offers | None = None,
) -> bytes:
    """Return the bytes of the one file that a bundle is: `file_of` the `parts_of` it, which see."""
    return file_of(parts_of(bundle, blobs=blobs, arrays=arrays, encoder_files=encoder_files, offers=offers))


def parts_of(
    bundle: Bundle,
    *,
    blobs: Mapping[str, bytes],
    arrays: Mapping[str, NDArray[np.generic]] | None = None,
    encoder_files: Mapping[str, bytes] | None = None,
    offers: Offers | None = None,
) -> Parts:
    """Return the members of a bundle.

    Args:
        blobs: `tools` and `texts`, that the bundle's slices point into.
        arrays: `triggers`, and `gate/<name>` for each of the gate's arrays.
        encoder_files: by plain name.
        offers: what servers offer beside their tools, if any agent may use some of it.

    Raises: BundleError when a value is not what the model says.
    """
    shared, registries = packed(bundle)
    plain = encode(shared)
    for fields, registry in zip(plain.get("agents", ()), registries, strict=True):
        if registry:
            fields["registry"] = registry
    members = {f"{part}.json": canonical_json(plain.pop(part, [])) for part in PARTS}
    members |= {f"{name}.blob": blobs[name] for name in BLOBS}
    members |= {f"{name}.npy": npy_bytes(array) for name, array in (arrays or {}).items()}
    members |= {f"encoder/{name}": data for name, data in (encoder_files or {}).items()}
    if offers:
        members[OFFERS] = canonical_json(encode(offers))
    return Parts(index=plain, members=members)


def file_of(parts: Parts) -> bytes:
    """Return the bytes of the one file. Raises: ValueError when it would exceed 4 GiB."""
    members = dict(parts.members)
    plain = dict(parts.index)
    facts = {name: BundleMember(name, len(data), zlib.crc32(data)) for name, data in members.items()}
    plain["format"] = {"name": FORMAT_NAME, "version": FORMAT_VERSION, "revision": FORMAT_REVISION}
    plain["members"] = {
        name: {"size": facts[name].size, "crc32": facts[name].crc32, "sha256": sha256_hex(data)}
        for name, data in members.items()
    }
    index = members[INDEX] = canonical_json(plain)
    facts[INDEX] = BundleMember(INDEX, len(index), zlib.crc32(index))
    plan = frame(facts.values())
    out = bytearray(plan.size)
    for offset, piece in plan.pieces:
        out[offset : offset + len(piece)] = piece
    for name, start in plan.starts.items():
        out[start : start + len(members[name])] = members[name]
    return bytes(out)
