"""Products with a message's vector, and Octomind's score: the mean of the highest cosines with triggers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

TOP_K = 3


def dots(rows: Matrix, vector: Vector) -> Vector:
    """Return the product of each row with a vector: shape (n,) of (n, d) and (d,); rows may be a view of any strides.

    A stack of products of two vectors, which BLAS never distributes over threads as it does with a matrix and a vector:
    on busy cores a second thread would take milliseconds for so small a product.
    """
    if not len(rows):
        return np.zeros(0, np.float32)  # a bundle without triggers has rows of length 0
    products: Vector = np.matmul(rows[:, None, :], vector[:, None])
    return products[:, 0, 0]


def capability_scores(
    intent: Vector, triggers: Matrix, rows: Sequence[tuple[int, int]], top_k: int = TOP_K
) -> NDArray[np.float64]:
    """Return the mean of the `top_k` highest cosines of every capability's triggers, 0 for one without triggers.

    Args:
        intent: shape (d,), L2-normalised.
        triggers: shape (n, d), the triggers of all capabilities, rows L2-normalised.
        rows: for each capability its half-open range of rows in `triggers`.
        top_k: the number of cosines to average, at least 1; all if a capability has fewer triggers.

    Returns: shape (len(rows),), cosines in [-1, 1].
    Source: Octomind, "Token Efficiency", How It Decides, step 3.
    """
    if not rows:
        return np.zeros(0)
    cosines = dots(triggers, intent)
    starts, stops = np.array(rows).T
    lengths = stops - starts
    places = starts[:, None] + np.arange(max(1, lengths.max()))
    inside = places < stops[:, None]
    padded = np.full(places.shape, -np.inf)
    padded[inside] = cosines[places[inside]]
    highest = np.sort(padded, axis=1)[:, -top_k:]
    highest[np.isneginf(highest)] = 0.0
    averaged: NDArray[np.float64] = highest.sum(axis=1) / np.clip(lengths, 1, top_k)
    return averaged
