"""The two gates: Octomind's threshold and margin over cosines, and a probability beside a background class."""

from __future__ import annotations

from octoc.routing.decision import Decision, Reason, ranked

OCTOMIND_THRESHOLD = 0.55
OCTOMIND_MARGIN = 0.08
"""Octomind's published constants (its page "Token Efficiency"); they belong to its own fine-tuned encoder."""

CALIBRATED_THRESHOLD = 0.175
"""The probability at which the calibrated gate activates: .10 is eager, .25 cautious."""

ARRAYS = ("mean", "vector_weights", "gram_weights", "bias", "idf")
"""The names of the calibrated gate's arrays, as `Gate.arrays` lists them; see `octoc.routing.classifier`."""


def octomind_gate(scores: dict[str, float], threshold: float, margin: float) -> Decision:
    """Activate the best candidate when it reaches `threshold` and leads the second by `margin`.

    Args:
        scores: candidate -> mean of its top cosines; a lone candidate leads a second of 0.
        threshold: a cosine.
        margin: a difference of cosines.

    Source: Octomind, "Token Efficiency", How It Decides, step 4.
    """
    order = ranked(scores)
    best = order[0][1] if order else 0.0
    second = order[1][1] if len(order) > 1 else 0.0
    if not order:
        reason = Reason.NO_CANDIDATES
    elif best < threshold:
        reason = Reason.BELOW_THRESHOLD
    elif best - second < margin:
        reason = Reason.MARGIN
    else:
        reason = Reason.ACTIVATED
    return _decision(order, reason, threshold, margin)


def calibrated_gate(probabilities: dict[str, float], background: float, threshold: float) -> Decision:
    """Activate the best candidate when its probability reaches `threshold`.

    Args:
        probabilities: candidate -> its probability among the candidates and the background.
        background: the probability that the message is for none of them.
        threshold: a probability.
    """
    order = ranked(probabilities)
    if not order:
        reason = Reason.NO_CANDIDATES
    elif order[0][1] >= threshold:
        reason = Reason.ACTIVATED
    elif background >= order[0][1]:
        reason = Reason.BACKGROUND
    else:
        reason = Reason.BELOW_THRESHOLD
    return _decision(order, reason, threshold, 0.0)


def _decision(order: tuple[tuple[str, float], ...], reason: Reason, threshold: float, margin: float) -> Decision:
    capability = order[0][0] if reason is Reason.ACTIVATED else None
    return Decision(capability=capability, reason=reason, scores=order, threshold=threshold, margin=margin)
