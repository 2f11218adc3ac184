"""A decision of routing on one message, and its reason."""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping

import attrs


class Reason(enum.StrEnum):
    """The reason of a decision; stable words, shown to users and written to logs."""

    ACTIVATED = "activated"
    TOO_SHORT = "too-short"  # the cleaned message has fewer than MIN_INTENT_CHARS characters
    NO_CANDIDATES = "no-candidates"  # no capability in scope can be activated
    NO_ENCODER = "no-encoder"  # the gate needs the message's vector, and no encoder is available
    BELOW_THRESHOLD = "below-threshold"
    BACKGROUND = "background"  # below the threshold, and most likely a message for no capability at all
    OTHER_LANGUAGE = "other-language"  # the encoder does not cover the language, and the best shares no word with it
    MARGIN = "margin"  # the two best scores are too close
    ALREADY_ACTIVE = "already-active"  # the message is for a capability that is active
    GRANTED = "granted-at-boot"  # the message is for one that the agent has from the start
    NOT_READY = "not-ready"  # the message is for one that cannot be activated now
    NO_ROOM = "no-room"  # the message is for one whose tools exceed the limits of active ones


class Method(enum.StrEnum):
    """The input of a score."""

    VECTORS = "vectors"  # the encoder's vector and the words' characters
    WORDS = "words"  # the characters alone, without an encoder


@attrs.frozen(kw_only=True)
class Decision:
    """The outcome for one message.

    Args:
        capability: the capability to activate, or None to abstain.
        also: further capabilities to activate, as far as `max_per_message` allows; the best first.
        winner: the capability that the gate chose, even if it cannot be activated; None for no capability.
        scores: competitor -> score, the best first, ties by name; empty if nothing was scored. Cosines in [-1, 1] with
            the octomind gate, probabilities in [0, 1] with the calibrated one.
        background: the probability that the message is for no capability; 0.0 with the octomind gate.
        threshold: the score that the best must reach, in the same unit.
        margin: the lead that the best must have over the second; 0.0 requires none.
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
    # By name, then a stable sort by score, which is faster than one sort by pairs.
    return dict(sorted(sorted(scores.items()), key=operator.itemgetter(1), reverse=True))
