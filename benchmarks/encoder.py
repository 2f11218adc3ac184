"""How fast the encoder is: the int8 graph that bundles ship against the packaged weights as they are, in one run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import row
from octoc_embed_onnx import weights
from octoc_embed_onnx.minilm import make_minilm
from octoc_embed_onnx.session import open_session, products_overflow

TOKENS = (8, 16, 32)
ROUNDS = 21
IN_A_ROW = 20
"""Runs of one before the other has its turn: what runs alone finds its weights in the processor's cache."""
OPENINGS = 7
TEXTS = 200

Vector = NDArray[np.float32]


def main() -> None:
    """Measure and print."""
    packaged = as_packaged(weights.packaged_weights())
    files = make_minilm({}, None).files()
    run = open_session(files[weights.MODEL], "the int8 graph").run

    def quantised(tokens: NDArray[np.int64]) -> Vector:
        vector: Vector = run([weights.OUTPUT], {weights.INPUT: tokens})[0]
        return vector

    if products_overflow():
        print("this CPU has no VNNI: integer products take their slower way")
    for count in TOKENS:
        compare(count, quantised, packaged)
    rng = np.random.default_rng(0)
    texts = [some_tokens(rng, int(rng.integers(4, 40))) for _ in range(TEXTS)]
    cosines = [float(quantised(tokens) @ packaged(tokens)) for tokens in texts]
    print(f"cosine to the packaged weights, {TEXTS} random texts: median {statistics.median(cosines):.4f}, ", end="")
    print(f"least {min(cosines):.4f}")
    first_texts()


def as_packaged(model: bytes) -> Callable[[NDArray[np.int64]], Vector]:
    """Return the encoder that the packaged file is by itself: float32 products, pooled and normalised outside."""
    run: Any = open_session(model, "the packaged weights").run

    def encode(tokens: NDArray[np.int64]) -> Vector:
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        pooled: Vector = run(["last_hidden_state"], given)[0][0].mean(axis=0)
        return pooled / np.linalg.norm(pooled)

    return encode


def some_tokens(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return a text's token ids, shape (1, count)."""
    return np.array([[101, *rng.integers(1000, 30_000, count - 2), 102]], np.int64)


def compare(count: int, quantised: Callable[..., Vector], packaged: Callable[..., Vector]) -> None:
    """Print the time of one text by each, and the ratio of their medians round by round."""
    tokens = some_tokens(np.random.default_rng(count), count)
    times: dict[str, list[list[float]]] = {"int8": [], "packaged": []}
    for round_number in range(ROUNDS + 1):
        for name, encode in (("int8", quantised), ("packaged", packaged)):
            found = []
            for _ in range(IN_A_ROW):
                start = time.perf_counter()
                encode(tokens)
                found.append(time.perf_counter() - start)
            if round_number:
                times[name].append(found)
    for name, rounds in times.items():
        row(f"{name}, {count} tokens", [one for found in rounds for one in found])
    ratios = [
        statistics.median(own) / statistics.median(other)
        for own, other in zip(times["int8"], times["packaged"], strict=True)
    ]
    print(f"{f'ratio, {count} tokens':<52} {statistics.median(ratios):>19.2f}x")


def first_texts() -> None:
    """Print what the first text costs, in processes of their own: made for the first time, then as a bundle has it."""
    made = "import octoc_embed_onnx as p; e = p.octoc_make_embedder(name='minilm-l6', settings={}, files="
    with tempfile.TemporaryDirectory() as folder:
        for name, data in make_minilm({}, None).files().items():
            (Path(folder) / name).write_bytes(data)
        read = f"{{q.name: q.read_bytes() for q in pathlib.Path({folder!r}).iterdir()}}"
        for what, files in (
            ("made, and its first text", "None"),
            ("opened from a bundle's files, and first text", read),
        ):
            figures = []
            for _ in range(OPENINGS):
                with tempfile.TemporaryDirectory() as cache:
                    program = (
                        "import pathlib, time; import numpy; start = time.perf_counter()\n"
                        f"{made}{files}); e.identity; e.embed('list my branches')\n"
                        "print(time.perf_counter() - start)"
                    )
                    done = subprocess.run(
                        [sys.executable, "-c", program],
                        env={**os.environ, "XDG_CACHE_HOME": cache}, capture_output=True, text=True, check=True,
                    )  # fmt: skip
                    figures.append(float(done.stdout))
            row(what, figures)


if __name__ == "__main__":
    main()
