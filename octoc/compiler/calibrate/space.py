"""The space for comparing examples, in which the differences between needs count most.

It is a linear discriminant analysis of the library of needs, for any encoder: it whitens the variance of messages
within a need, and keeps the directions in which the needs lie furthest apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from octoc.compiler.calibrate.texts import Example
from octoc.routing.rerank import Space

AXES = 128
FEWEST = AXES + 1
"""With fewer needs there are not enough directions, and examples are compared without this space."""

EVENED = 2.0
"""Added to the variance of each direction before whitening, in units of the mean variance."""


def space_of(found: Sequence[Example], vectors: Mapping[str, NDArray[np.float32]]) -> Space | None:
    """Return the space of the needs among the examples; None if they are too few."""
    needs: dict[str, list[str]] = {}
    for example in found:
        if example.need:
            needs.setdefault(example.need, []).append(example.text)
    if len(needs) < FEWEST:
        return None
    groups = [np.stack([vectors[text] for text in texts]).astype(np.float64) for _, texts in sorted(needs.items())]
    if groups[0].shape[1] < AXES:
        return None
    means = np.stack([group.mean(axis=0) for group in groups])
    mean = np.concatenate(groups).mean(axis=0)
    inside = np.concatenate([group - own for group, own in zip(groups, means, strict=True)])
    # One thread, since several can add numbers in another order.
    with threadpool_limits(limits=1, user_api="blas"):
        variances, directions = np.linalg.eigh(inside.T @ inside / len(inside))
        even = directions / np.sqrt(variances + EVENED * variances.mean()) @ directions.T
        _, _, apart = np.linalg.svd((means - mean) @ even, full_matrices=False)
        axes = apart[:AXES] @ even
    # Scale to the range of float16: only directions matter, not lengths.
    return Space(mean=mean.astype(np.float32), axes=(axes / np.abs(axes).max()).astype(np.float16).astype(np.float32))
