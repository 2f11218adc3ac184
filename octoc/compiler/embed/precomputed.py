"""Precomputed vectors of the texts that ship with octoc, since each build needs thousands of them.

The texts are the library of needs, the background and the intents of search. `precomputed/<encoder identity>.npy` has
their vectors for the default encoder; a build with another encoder computes them.
`python -m benchmarks.ready_vectors` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from octoc.compiler.calibrate.needs.library import library_texts, shipped_needs
from octoc.compiler.calibrate.texts import (
    background_lines,
    chat_lines,
    distinct_texts,
    follow_up_lines,
    further_background,
)
from octoc.compiler.index.tool_intents import texts_of, tool_intents

Vector = NDArray[np.float32]

FOLDER = Path(__file__).parent / "precomputed"
KEY_BYTES = 16
_HEAD = KEY_BYTES + 4
_STEPS = 127


def shipped_texts() -> tuple[str, ...]:
    """Return the texts that ship with octoc and that a build encodes, without repeated ones."""
    library = (*library_texts(shipped_needs()), *distinct_texts(further_background()))
    return tuple(
        dict.fromkeys((*library, *background_lines(), *follow_up_lines(), *chat_lines(), *texts_of(tool_intents())))
    )


def packed(vectors: Mapping[bytes, Vector]) -> NDArray[np.uint8]:
    """Return vectors as rows of a digest, a scale as float32 and a signed byte for each dimension, sorted by digest."""
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
    """Return digest -> vector of the texts that ship; empty for an encoder without precomputed vectors.

    Args:
        unit: L2-normalise the vectors. Their packed form differs from unit length by a thousandth. Without `unit`,
            packing them again as `octoc.search.index.Rows` does gives exactly the steps and scale of the file.
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
