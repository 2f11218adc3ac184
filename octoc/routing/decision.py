"""What routing decided about one message, and why."""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping

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
    ALREADY_ACTIVE = "already-active"  # the message is for a capability that is active
    GRANTED = "granted-at-boot"  # it is for one that the agent has from the start
    NOT_READY = "not-ready"  # it is for one that cannot be activated as things are
    NO_ROOM = "no-room"  # it is for one whose tools exceed what may be active at once


class Method(enum.StrEnum):
    """What a message was scored by."""

    VECTORS = "vectors"  # the encoder's vector and the words' characters
    WORDS = "words"  # the characters alone: there is no encoder


@attrs.frozen(kw_only=True)
class Decision:
    """The outcome for one message.

    Args:
        capability: what to activate, or None to abstain.
        also: what else to activate, as far as `max_per_message` allows; the best first.
        winner: the capability that the gate chose, even if it cannot be activated; None for no capability.
        scores: capability -> score, of all that took part, the best first, ties by name; empty when nothing was scored.
            Cosines in [-1, 1] of the octomind gate, probabilities in [0, 1] of the calibrated one.
        background: the probability that the message is for no capability; 0.0 of the octomind gate.
        threshold: the score that the best must reach, in the same unit.
        margin: by how much the best must lead the second; 0.0 asks for no lead.
    """

    capability: str | None
    reason: Reason
    also: tuple[str, ...] = ()
    winner: str | None = None
    scores: Mapping[str, float] = attrs.field(factory=dict)
    background: float = 0.0
    threshold: float
    margin: float = 0.0
    method: Method = Method.VECTORS


def ranked(scores: Mapping[str, float]) -> dict[str, float]:
    """Return name -> score, the best first, ties by name."""
    # Names first, then a stable sort by score: quicker than one by pairs.
    return dict(sorted(sorted(scores.items()), key=operator.itemgetter(1), reverse=True))
