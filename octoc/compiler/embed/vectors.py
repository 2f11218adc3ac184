"""The vectors of a build's texts, from the cache or from the encoder."""

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
"""The use that packs vectors again as the precomputed ones are packed."""

WORKERS = 2


def vectors_of(
    texts: Sequence[str], embedder: Embedder, cache: Cache, advance: Callable[[int, int], None], *, use: str = ""
) -> dict[str, Vector]:
    """Return text -> vector; encode only the texts that neither the cache nor the precomputed vectors have.

    The cache has one array for each encoder identity, with a digest and a vector in each row, so that a full hit reads
    one file. It keeps the vectors of this build and at most as many other ones.

    Args:
        texts: texts with equal NFC forms have one vector.
        embedder: the encoder; it computes only missing vectors.
        cache: the build's cache.
        advance: called with the number of encoded texts and of all missing ones.
        use: each use has its own array in the cache, so that it does not evict the vectors of another one. Precomputed
            vectors are L2-normalised, except for `SEARCH`.

    Raises: PluginError when the embedder fails.
    """
    wanted = {text: digest_of(text) for text in texts}
    key = cache_key(embedder.identity, use) if use else cache_key(embedder.identity)
    stored = _unpack(cache.get_array(KIND, key), embedder.dimension)
    # Precomputed vectors come first, so that a bundle does not depend on a cache of an earlier version.
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
    """Return the vector of each text. Raises: PluginError for a vector of a wrong shape."""
    advance(0, len(texts))
    vectors: list[Vector] = []
    # Each text is encoded by itself, so two threads give the same bits as one.
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="octoc-embed") as pool:
        try:
            for vector in pool.map(embedder.embed, texts):
                if vector.shape != (embedder.dimension,):
                    raise PluginError(f"a vector has shape {vector.shape}, expected ({embedder.dimension},)")
                vectors.append(vector)
                advance(len(vectors), len(texts))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # do not encode the other texts after a failure or Ctrl-C
            raise
    return vectors


def digest_of(text: str) -> bytes:
    """Return the key of a text's vector: a part of the sha256 of its NFC form."""
    normal = unicodedata.normalize("NFC", text)
    return hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def _pack(vectors: Mapping[bytes, Vector]) -> NDArray[np.uint8]:
    keys = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), KEY_BYTES)
    return np.concatenate([keys, np.stack(list(vectors.values())).astype("<f4").view(np.uint8)], axis=1)


def _unpack(packed: NDArray[np.generic] | None, dimension: int) -> dict[bytes, Vector]:
    """Return digest -> vector; empty for an array of another form than that of `_pack`."""
    if packed is None or packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != KEY_BYTES + 4 * dimension:
        return {}
    keys = np.ascontiguousarray(packed[:, :KEY_BYTES]).view(f"V{KEY_BYTES}")[:, 0]
    vectors = np.ascontiguousarray(packed[:, KEY_BYTES:]).view("<f4")
    return dict(zip((bytes(key) for key in keys), vectors, strict=True))
