"""Vectors of the texts that ship with octoc, made beforehand: a build needs thousands, and they are always the same.

They are those of the library of needs, of the background and of search's deeds.

`precomputed/<encoder identity>.npy` has them for the default encoder. Any other encoder makes its own, in the build.
`python -m benchmarks.precomputed_vectors` writes the file anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from octoc.compiler.calibrate.needs.library import library_texts, shipped_needs
from octoc.compiler.calibrate.texts import background_lines, distinct_texts, follow_up_lines, further_background
from octoc.compiler.index.deeds import deeds, texts_of

Vector = NDArray[np.float32]

FOLDER = Path(__file__).parent / "precomputed"
KEY_BYTES = 16
_HEAD = KEY_BYTES + 4
_STEPS = 127


def shipped_texts() -> tuple[str, ...]:
    """Return every text that ships with octoc and becomes a vector in a build, each once."""
    library = (*library_texts(shipped_needs()), *distinct_texts(further_background()))
    return tuple(dict.fromkeys((*library, *background_lines(), *follow_up_lines(), *texts_of(deeds()))))


def packed(vectors: Mapping[bytes, Vector]) -> NDArray[np.uint8]:
    """Return vectors as rows of a digest, a scale as float32 and a signed byte per dimension, sorted by digest."""
    rows: list[bytes] = []
    for digest in sorted(vectors):
        vector = vectors[digest]
        scale = np.float32(np.abs(vector).max() / _STEPS)
        steps = np.rint(vector / (scale or np.float32(1))).astype(np.int8)
        rows.append(digest + scale.astype("<f4").tobytes() + steps.tobytes())
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


def precomputed_vectors(
    identity: str, dimension: int, folder: Path = FOLDER, *, unit: bool = True
) -> dict[bytes, Vector]:
    """Return the vectors that ship for an encoder, by digest; none where there are none for it.

    Args:
        unit: L2-normalise them. As they were packed they are so but for a thousandth part, and whoever packs them the
            same way, as `octoc.search.index.Rows` does, has the very steps and scale of the vector that was encoded.
    """
    path = folder / f"{identity}.npy"
    if not path.is_file():
        return {}
    rows = np.load(path, allow_pickle=False)
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != _HEAD + dimension:
        return {}
    scales = np.ascontiguousarray(rows[:, KEY_BYTES:_HEAD]).view("<f4").astype(np.float32)
    vectors = np.ascontiguousarray(rows[:, _HEAD:]).view(np.int8).astype(np.float32) * scales
    if unit:
        norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        vectors /= np.where(norms > 0, norms, np.float32(1))[:, None]
    return {row[:KEY_BYTES].tobytes(): vector for row, vector in zip(rows, vectors, strict=True)}
