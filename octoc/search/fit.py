"""Whether one of the ranked tools probably does what a query asks for: a logistic model over a few measures.

Fitted to development queries over scopes of 1, 3, 8 and 20 servers, by `python -m benchmarks.search_fit`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs

LEAST = 0.5
"""The fit from which on a tool probably does it."""
WITH_MEANING: Mapping[str, float] = {
    "bias": 0.47,
    "size": -0.48,
    "share": 9.2,
    "spelled": -5.79,
    "unknown": -3.42,
    "lacking": -10.37,
    "named": 3.71,
    "meaning": 5.94,
    "intents": 8.66,
    "need": -7.93,
}
BY_WORDS: Mapping[str, float] = {
    "bias": -1.15,
    "size": -0.12,
    "share": 16.52,
    "spelled": -7.8,
    "unknown": -3.93,
    "lacking": -14.81,
    "named": 2.53,
}
"""The weight of each measure, and of `bias`, which is always 1."""
FEWEST = 5
"""The smallest scope that the weights were fitted to; a smaller one counts as one of this size."""
USUAL_NEED = 0.35
"""The least cosine with a need that counts, and the one for an index without needs: a query that is near nothing at all
must not fit because it is far from every need."""


@attrs.frozen(kw_only=True)
class Measures:
    """What speaks for and against a fit; of the tools of the named servers, if the query names some.

    Args:
        tools: the number of tools in scope.
        share: the share of the query's words, by weight, that the best tool has.
        spelled: the same of the words that the tool has in its name or description.
        unknown: whether the query names a product that no tool in scope mentions.
        lacking: whether the query names a server none of whose tools has a word for the action.
        named: whether the query names a server in scope.
        meaning: the cosine of the nearest tool; None without an encoder.
        intents: the cosine of the nearest intent that a tool serves, by how well it serves it.
        need: the cosine of the nearest need that no tool in scope serves.
    """

    tools: int
    share: float
    spelled: float
    unknown: bool
    lacking: bool
    named: bool
    meaning: float | None = None
    intents: float = 0.0
    need: float = USUAL_NEED

    def values(self) -> Mapping[str, float]:
        """Return the measures by the names of their weights."""
        return {
            "bias": 1.0,
            "size": math.log(max(self.tools, FEWEST)),
            "share": self.share,
            "spelled": self.spelled,
            "unknown": self.unknown,
            "lacking": self.lacking,
            "named": self.named,
            "meaning": self.meaning or 0.0,
            "intents": self.intents,
            "need": max(self.need, USUAL_NEED),
        }

    def fit(self) -> float:
        """Return the probability of a fit, 0 to 1."""
        values = self.values()
        weights = BY_WORDS if self.meaning is None else WITH_MEANING
        return 1 / (1 + math.exp(-sum(weight * values[name] for name, weight in weights.items())))
