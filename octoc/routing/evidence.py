"""Further evidence of a gate without needs: words that a message shares with a capability, and that it asks at all.

Among many capabilities one is near to any message by chance, while few have its rare words. With few capabilities, and
where needs are learned, a right message often shares no word, so this evidence counts from some size on.
"""

from __future__ import annotations

import math

import attrs

FROM = 30
WHOLE = 100
"""Number of capabilities from which the evidence counts, and at which it counts in full; between, by the logarithm."""


@attrs.frozen(kw_only=True)
class Evidence:
    """What is added to the log-odds that activating is right, per unit of each feature.

    Args:
        words: the weight of all words of the message that the capability's own texts have.
        asks: the log-odds that the message asks for something, and is not chat.
        size: the logarithm of the number of capabilities over `WHOLE`.
        bias: the part of every message.
    """

    words: float
    asks: float
    size: float
    bias: float

    def odds(self, told: float, asks: float, capabilities: int) -> float:
        """Return the added log-odds for a message with these features."""
        share = min(1.0, math.log(capabilities / FROM) / math.log(WHOLE / FROM)) if capabilities > FROM else 0.0
        whole = self.words * told + self.asks * asks + self.size * math.log(capabilities / WHOLE) + self.bias
        return share * whole


WITHOUT_NEEDS = Evidence(words=0.4, asks=0.2, size=-0.8, bias=-2.2)
"""For a gate that learned from no need: weights below those that `python -m benchmarks.routing_evidence` learns, which
activate more wrong capabilities, and the bias that activates as few messages for no capability as no evidence does."""
