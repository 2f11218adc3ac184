"""The space in which examples are compared: directions in which needs differ from each other count most.

Linear discriminants: what messages of one need vary by among themselves is evened out, and of what is left the
directions stay in which needs lie furthest apart. The library of needs tells which they are, whatever the encoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from octoc.compiler.calibrate.texts import Example
from octoc.routing.nearby import Space

AXES = 128
FEWEST = AXES + 1
"""With fewer needs there are no so many directions between them, and examples are compared as they are."""

EVENED = 2.0
"""What is added to each direction's variance before it is evened out, in units of the mean one."""


def space_of(found: Sequence[Example], vectors: Mapping[str, NDArray[np.float32]]) -> Space | None:
    """Return the space that the needs among the examples make; None where they are too few."""
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
    # One thread: two would add up in another order.
    with threadpool_limits(limits=1, user_api="blas"):
        variances, directions = np.linalg.eigh(inside.T @ inside / len(inside))
        even = directions / np.sqrt(variances + EVENED * variances.mean()) @ directions.T
        _, _, apart = np.linalg.svd((means - mean) @ even, full_matrices=False)
        axes = apart[:AXES] @ even
    # Only directions count, not lengths; so that float16 holds them.
    return Space(mean=mean.astype(np.float32), axes=(axes / np.abs(axes).max()).astype(np.float16).astype(np.float32))
