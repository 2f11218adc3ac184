"""The two gates: Octomind's threshold and margin over cosines, and a probability with a background class."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from octoc.routing.decision import Decision, Method, Reason, ranked

OCTOMIND_THRESHOLD = 0.55
OCTOMIND_MARGIN = 0.08
"""Octomind's published constants (its page "Token Efficiency"), for its own fine-tuned encoder."""

OCTOMIND_NEWER_THRESHOLD = 0.45
"""The threshold in Octomind's newest code, with the same margin."""

CALIBRATED_THRESHOLD = 0.175
CALIBRATED_THRESHOLDS: Mapping[str, float] = MappingProxyType(
    {"eager": 0.10, "balanced": CALIBRATED_THRESHOLD, "cautious": 0.25}
)
"""The least probability of an activation by a calibrated gate learned from triggers and background alone."""

NEEDS_THRESHOLDS: Mapping[str, float] = MappingProxyType({"eager": 0.34, "balanced": 0.42, "cautious": 0.67})
"""Thresholds for a gate learned with the library of needs, which weighs nearby examples (`octoc.routing.rerank`).

On the development messages of `benchmarks/routing.py` .95 of those for no capability activate nothing at .42; of those
that share no word with a trigger .42 are right, with one word .69. At .50 it is .96, .38 and .63.
"""

EXAMPLES_THRESHOLDS: Mapping[str, float] = MappingProxyType({"eager": 0.28, "balanced": 0.38, "cautious": 0.55})
"""Thresholds for a gate that weighs nearby examples, none of them of a need.

At them .92, .95 and .97 of the messages for no capability of three fields activate nothing, each with its own tap:
`benchmarks/routing_thresholds.py` chooses them on two fields and judges them on the third.
"""

WORDS_THRESHOLDS: Mapping[str, float] = CALIBRATED_THRESHOLDS
"""Thresholds for the model of words only."""

FOLLOW_SHARE = 0.75
"""The share of the threshold that suffices for a message which continues an earlier one.

Such a message asks for something, so fewer of them are for no capability. It is about the share of the profile `eager`.
"""

NONE_HELD: Mapping[str, Reason] = MappingProxyType({})


def octomind_gate(
    scores: dict[str, float], threshold: float, margin: float, held: Mapping[str, Reason] = NONE_HELD
) -> Decision:
    """Activate the best candidate when it reaches `threshold` and leads the second by `margin`.

    Args:
        scores: competitor -> mean of its top cosines; a single one leads a second of 0.
        threshold: a cosine.
        margin: a difference of cosines.
        held: competitors that are not activated if they win, and why.

    Source: Octomind, "Token Efficiency", How It Decides, step 4.
    """
    order = ranked(scores)
    first = next(iter(order), None)
    best, second, *_ = *order.values(), 0.0, 0.0
    if first is None:
        reason = Reason.NO_CANDIDATES
    elif best < threshold:
        reason = Reason.BELOW_THRESHOLD
    elif best - second < margin:
        reason = Reason.MARGIN
    else:
        reason = held.get(first, Reason.ACTIVATED)
        return _won(order, (first,), reason, held, threshold=threshold, margin=margin)
    return Decision(capability=None, reason=reason, scores=order, threshold=threshold, margin=margin)


def calibrated_gate(
    probabilities: Mapping[str, float],
    background: float,
    threshold: float,
    held: Mapping[str, Reason] = NONE_HELD,
    *,
    most: int = 1,
    method: Method = Method.VECTORS,
) -> Decision:
    """Activate the best candidates, at most `most`, whose probability reaches `threshold`.

    Args:
        probabilities: competitor -> its probability among the competitors and the background, the best first.
        background: the probability that the message is for none of them.
        threshold: a probability.
        held: competitors that are not activated when they win, and why.
    """
    winners = tuple(name for name, score in itertools.islice(probabilities.items(), most) if score >= threshold)
    if winners:
        reason = held.get(winners[0], Reason.ACTIVATED)
        return _won(probabilities, winners, reason, held, threshold=threshold, background=background, method=method)
    if not probabilities:
        reason = Reason.NO_CANDIDATES
    elif background >= next(iter(probabilities.values())):
        reason = Reason.BACKGROUND
    else:
        reason = Reason.BELOW_THRESHOLD
    return Decision(
        capability=None,
        reason=reason,
        scores=probabilities,
        threshold=threshold,
        background=background,
        method=method,
    )


def eased(decision: Decision, held: Mapping[str, Reason] = NONE_HELD) -> Decision:
    """Return a decision of the calibrated gate at `FOLLOW_SHARE` of its threshold."""
    if decision.reason not in (Reason.BELOW_THRESHOLD, Reason.BACKGROUND):
        return decision
    threshold = decision.threshold * FOLLOW_SHARE
    return calibrated_gate(decision.scores, decision.background, threshold, held, method=decision.method)


def of_clauses(whole: Decision, parts: Sequence[Decision], held: Mapping[str, Reason], most: int) -> Decision:
    """Return the decision on a message of several clauses: the winners of the whole and of each clause, the best first.

    A capability that is only second is not activated, since it is often one similar to the winner.
    """
    best: dict[str, float] = {}
    for decision in (whole, *parts):
        if decision.winner is not None:
            score = decision.scores[decision.winner]
            best[decision.winner] = max(score, best.get(decision.winner, score))
    if not best:
        return whole
    order = ranked({name: max(score, best.get(name, score)) for name, score in whole.scores.items()} | best)
    winners = tuple(ranked(best))[:most]
    return _won(
        order,
        winners,
        held.get(winners[0], Reason.ACTIVATED),
        held,
        threshold=whole.threshold,
        margin=whole.margin,
        background=whole.background,
        method=whole.method,
    )


def _won(
    order: Mapping[str, float],
    winners: tuple[str, ...],
    reason: Reason,
    held: Mapping[str, Reason],
    *,
    threshold: float,
    margin: float = 0.0,
    background: float = 0.0,
    method: Method = Method.VECTORS,
) -> Decision:
    free = tuple(name for name in winners if name not in held)
    return Decision(
        capability=free[0] if free else None,
        reason=Reason.ACTIVATED if free else reason,
        also=free[1:],
        winner=winners[0],
        scores=order,
        threshold=threshold,
        margin=margin,
        background=background,
        method=method,
    )
