"""An embedder without a model: texts that share words are near each other, and nothing is downloaded or random."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.plugin.protocols import Vector

_WORD = re.compile(r"\w+|[^\w\s]+")


@attrs.frozen
class FakeEmbedder:
    """Counts a text's words in hashed dimensions. The same text gives the same bits on every machine."""

    name: str = "fake"
    dimension: int = 64

    @property
    def identity(self) -> str:
        """A digest of the method and its dimension."""
        return hashlib.sha256(f"octoc fake embedder 1: {self.dimension}".encode()).hexdigest()

    def embed(self, text: str) -> Vector:
        """Return the text's vector: shape (dimension,), float32, L2-normalised; zeros for a text of spaces alone."""
        import numpy as np

        vector = np.zeros(self.dimension, dtype=np.float64)
        for word in _WORD.findall(text.lower()):
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            vector[int.from_bytes(digest) % self.dimension] += 1.0
        length = float(np.linalg.norm(vector))
        return (vector / length if length else vector).astype(np.float32)

    def files(self) -> Mapping[str, bytes]:
        """Return what `fake_embedder` needs to make it again."""
        return {"fake.json": json.dumps({"dimension": self.dimension}).encode()}


def fake_embedder(name: str = "fake", files: Mapping[str, bytes] | None = None) -> FakeEmbedder:
    """Return the fake embedder, called as asked, of the dimension that `files` of an earlier one say."""
    if not files:
        return FakeEmbedder(name)
    return FakeEmbedder(name, json.loads(files["fake.json"])["dimension"])
