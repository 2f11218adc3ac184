"""Writes the vectors that ship with octoc for its default encoder, after a change of the library or of the encoder."""

from __future__ import annotations

import sys

import numpy as np

from octoc.compiler.embed.precomputed import FOLDER, packed, shipped_texts
from octoc.compiler.embed.vectors import digest_of, encode
from octoc.plugin.manager import load_plugins

ENCODER = "minilm-l6"


def main() -> None:
    """Encode and write."""
    embedder = load_plugins(["embed-onnx"]).make_embedder(ENCODER, {})
    if embedder is None:
        sys.exit(f"the encoder `{ENCODER}` is not installed")
    texts = shipped_texts()
    vectors = encode(texts, embedder, lambda *_: None)
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.npy"):
        old.unlink()
    path = FOLDER / f"{embedder.identity}.npy"
    np.save(path, packed(dict(zip(map(digest_of, texts), vectors, strict=True))))
    print(f"{len(texts)} vectors, {path.stat().st_size / 1e6:.1f} MB: {path.relative_to(FOLDER.parents[2])}")


if __name__ == "__main__":
    main()
