"""What routing decided about one message, and why."""

from __future__ import annotations

import enum

import attrs


class Reason(enum.StrEnum):
    """Why a decision came out as it did; stable words, shown to users and written to logs."""

    ACTIVATED = "activated"
    TOO_SHORT = "too-short"  # fewer than MIN_INTENT_CHARS characters are left of the message
    NO_CANDIDATES = "no-candidates"  # nothing in scope could be activated
    NO_ENCODER = "no-encoder"  # the gate needs the message's vector, and there is no encoder
    BELOW_THRESHOLD = "below-threshold"
    BACKGROUND = "background"  # below the threshold, and most likely a message for no capability at all
    MARGIN = "margin"  # the two best are too near each other


@attrs.frozen(kw_only=True)
class Decision:
    """The outcome for one message.

    Args:
        capability: what to activate, or None to abstain.
        scores: (capability, score) of every candidate, the best first, ties by name; empty when nothing was scored.
            Cosines in [-1, 1] of the octomind gate, probabilities in [0, 1] of the calibrated one.
        threshold: the score that the best must reach, in the same unit.
        margin: by how much the best must lead the second; 0.0 asks for no lead.
    """

    capability: str | None
    reason: Reason
    scores: tuple[tuple[str, float], ...] = ()
    threshold: float
    margin: float = 0.0


def ranked(scores: dict[str, float]) -> tuple[tuple[str, float], ...]:
    """Return (name, score) pairs, the best first, ties by name."""
    return tuple(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
