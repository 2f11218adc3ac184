"""Whether the likeliest capability is likely enough: its probability weighed with how near the nearest examples are.

A classifier tells capabilities apart well, and badly how far a message is from all of them; examples tell that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.routing.scores import dots

Vector = NDArray[np.float32]

NEAREST = 3
"""So many of the nearest examples are averaged."""

STEM = 5
"""Words count as the same that begin with the same letters, so many of them."""

MAX_LEAD = 6.0

PROBABILITY = 0.256
LEAD = 0.500
OWN = 8.855
BACKGROUND = -10.594
NAMED = 0.233
BIAS = -0.841
"""Log-odds that activating is right, per unit: log-probability, its lead over the next one, mean cosine of the nearest
examples of the capability and of the background, weight of the rarest word that the capability's own texts have.

Learned once, by logistic regression on twelve workspaces made of the library of needs: 15 to 100 random needs, with
four to seven messages as triggers, are the capabilities; messages, whole needs and lines of the background that were
held out are what is judged; `benchmarks/nearby.py` learns them again. The bias stands half a unit below the learned
one: chosen, so that one half, where the balanced profile activates, leaves .93 of the benchmark's development messages
that are for nobody alone.
"""

_WORD = re.compile(r"[^\W_]{2,}")


def stems(text: str) -> set[str]:
    """Return the beginnings of a text's words, lower-cased."""
    return {word[:STEM] for word in _WORD.findall(text.lower())}


@attrs.frozen(kw_only=True, eq=False)
class Nearby:
    """Examples by capability, and of the background.

    Args:
        vectors: shape (n, d), L2-normalised; a capability's stand together, the background's are the last.
        rows: capability -> where its rows begin and end.
        background: where the background's rows begin.
        names: word's beginning -> its weight and the capabilities whose own texts have it.
    """

    vectors: Vector
    rows: Mapping[str, tuple[int, int]]
    background: int
    names: Mapping[str, tuple[float, frozenset[str]]]
    _named: dict[str, dict[str, float]] = attrs.field(factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, data: Mapping[str, Any], classes: tuple[str, ...], vectors: NDArray[np.generic]) -> Nearby:
        """Make it of a gate's `data["nearby"]`: `starts`, a row per class and the background's, and `names`.

        Raises: ValueError when they do not fit each other.
        """
        starts = [int(start) for start in data["starts"]]
        if len(starts) != len(classes) + 1 or starts != sorted(starts) or starts[-1] > len(vectors):
            raise ValueError(f"the gate's examples start at {starts}, expected a start per class and the background's")
        return cls(
            vectors=vectors.astype(np.float32),
            rows={name: (starts[place], starts[place + 1]) for place, name in enumerate(classes)},
            background=starts[-1],
            names={
                stem: (float(weight), frozenset(classes[place] for place in places))
                for stem, (weight, places) in data["names"].items()
            },
        )

    def judge(
        self, text: str, vector: Vector, probabilities: Mapping[str, float]
    ) -> tuple[dict[str, float], float] | None:
        """Return the probability that each candidate is to be activated, and that none is.

        The likeliest candidate has what the examples make of it, and the others keep their distance to it. None where
        no candidate has a probability.
        """
        shares = list(probabilities.values())
        first = max(shares, default=0.0)
        if first <= 0:
            return None
        place = shares.index(first)
        best = list(probabilities)[place]
        del shares[place]
        second = max(shares, default=0.0)
        lead = MAX_LEAD if second <= 0 else min(MAX_LEAD, math.log(first / second))
        odds = (
            PROBABILITY * math.log(first)
            + LEAD * lead
            + OWN * _nearest(self.vectors[slice(*self.rows[best])], vector)
            + BACKGROUND * _nearest(self.vectors[self.background :], vector)
            + NAMED * self.named(text, best)
            + BIAS
        )
        activated = 1 / (1 + math.exp(-odds))
        return {name: share / first * activated for name, share in probabilities.items()}, 1 - activated

    def named(self, text: str, capability: str) -> float:
        """Return the weight of the rarest word of a text that the capability's own texts have; 0 without one."""
        own = self._named.get(capability)
        if own is None:
            own = {stem: weight for stem, (weight, owners) in self.names.items() if capability in owners}
            self._named[capability] = own
        return max([own[stem] for stem in own.keys() & stems(text)], default=0.0)


def _nearest(examples: Vector, vector: Vector) -> float:
    if not len(examples):
        return 0.0
    cosines = dots(examples, vector)
    if len(cosines) > NEAREST:
        cosines.partition(-NEAREST)
        cosines = cosines[-NEAREST:]
    # fsum, since a partition leaves the order open.
    return math.fsum(cosines.tolist()) / len(cosines)
