"""The vectors of a build's texts, out of the cache where they were encoded before."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from octoc.compiler.cache.store import Cache, cache_key
from octoc.compiler.embed.precomputed import KEY_BYTES, precomputed_vectors
from octoc.plugin import PluginError

if TYPE_CHECKING:
    from octoc.plugin import Embedder

Vector = NDArray[np.float32]

KIND = "vectors"
SEARCH = "search"
"""The use whose vectors are packed again, as those that ship are."""

WORKERS = 2


def vectors_of(
    texts: Sequence[str], embedder: Embedder, cache: Cache, advance: Callable[[int, int], None], *, use: str = ""
) -> dict[str, Vector]:
    """Return the vector of each text, and encode those alone that are not known, one at a time.

    The cache holds one array per encoder identity: a row is a text's digest and its vector, so a full hit is one file.
    It keeps what this build uses, and of the rest at most as much again. Texts that ship with octoc have vectors that
    ship too, for the default encoder: see `octoc.compiler.embed.precomputed`.

    Args:
        texts: NFC is applied; two that become equal by it have one vector.
        embedder: asked for its identity always, for a vector only when one is missing.
        cache: the build's cache.
        advance: called with how many texts are encoded, and of how many.
        use: what they are for: each use has an array of its own, so that one does not push out another's. Vectors that
            ship are L2-normalised but for `SEARCH`.

    Raises: PluginError when the embedder fails.
    """
    wanted = {text: digest_of(text) for text in texts}
    key = cache_key(embedder.identity, use) if use else cache_key(embedder.identity)
    stored = _unpack(cache.get_array(KIND, key), embedder.dimension)
    # Before the cache, so that a bundle does not hang on what an earlier version left there.
    ready = precomputed_vectors(embedder.identity, embedder.dimension, unit=use != SEARCH)
    missing = {digest: text for text, digest in wanted.items() if digest not in stored and digest not in ready}
    if missing:
        encoded = encode(list(missing.values()), embedder, advance)
        stored = {**dict(zip(missing, encoded, strict=True)), **stored}
        used = set(wanted.values()) - set(ready)
        spare = [digest for digest in stored if digest not in used][: len(used)]
        cache.put_array(KIND, key, _pack({digest: stored[digest] for digest in [*sorted(used), *spare]}))
    stored |= ready
    return {text: stored[digest] for text, digest in wanted.items()}


def encode(texts: Sequence[str], embedder: Embedder, advance: Callable[[int, int], None]) -> list[Vector]:
    """Return the vector of each text. Raises: PluginError when one has another shape than the embedder says."""
    advance(0, len(texts))
    found: list[Vector] = []
    # Texts are independent, so two threads that share one model change no bit of a vector.
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="octoc-embed") as pool:
        try:
            for vector in pool.map(embedder.embed, texts):
                if vector.shape != (embedder.dimension,):
                    raise PluginError(f"a vector has shape {vector.shape}, expected ({embedder.dimension},)")
                found.append(vector)
                advance(len(found), len(texts))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # one failure, or Ctrl-C, must not wait for hundreds of texts
            raise
    return found


def digest_of(text: str) -> bytes:
    """Return what a text's vector is kept under: a part of the sha256 of its NFC."""
    normal = unicodedata.normalize("NFC", text)
    return hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def _pack(vectors: Mapping[bytes, Vector]) -> NDArray[np.uint8]:
    keys = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), KEY_BYTES)
    return np.concatenate([keys, np.stack(list(vectors.values())).astype("<f4").view(np.uint8)], axis=1)


def _unpack(packed: NDArray[np.generic] | None, dimension: int) -> dict[bytes, Vector]:
    """Return the vectors by digest; nothing when the array is not of the form that `_pack` makes."""
    if packed is None or packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != KEY_BYTES + 4 * dimension:
        return {}
    keys = np.ascontiguousarray(packed[:, :KEY_BYTES]).view(f"V{KEY_BYTES}")[:, 0]
    vectors = np.ascontiguousarray(packed[:, KEY_BYTES:]).view("<f4")
    return dict(zip((bytes(key) for key in keys), vectors, strict=True))
