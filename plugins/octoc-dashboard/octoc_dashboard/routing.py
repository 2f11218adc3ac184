"""What the template of a routed message shows: the decision, bars against the threshold, and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from octoc.runtime import Reason

if TYPE_CHECKING:
    from octoc.plugin import RoutedMessage
    from octoc.runtime import Explanation

_MAX_BARS = 10
_MIN_BARS = 3
_MAX_WORDS = 20
_LEAST = 0.0005
"""The least score that three digits show."""
_REASONS: dict[str, str] = {
    Reason.TOO_SHORT: "too little is left of the message",
    Reason.NO_CANDIDATES: "the agent has none that could be activated",
    Reason.NO_ENCODER: "there is no encoder, and this gate needs one",
    Reason.BELOW_THRESHOLD: "no score reaches the threshold",
    Reason.BACKGROUND: "it is most likely for no capability at all",
    Reason.MARGIN: "the two best are too near each other",
    Reason.ALREADY_ACTIVE: "it is for one that is active already",
    Reason.GRANTED: "it is for one that the agent has from the start",
    Reason.NOT_READY: "it is for one that cannot be activated as things are",
}


@attrs.frozen(kw_only=True)
class ScoreBar:
    """A score; the kind `background` is the probability of no capability."""

    name: str
    score: float
    kind: Literal["chosen", "other", "background"]
    note: str


def routing_context(routed: RoutedMessage) -> dict[str, Any]:
    """Return the values of `routing.html`."""
    bars, left_out = _bars(routed)
    return {
        **attrs.asdict(routed, recurse=False),
        "reason": _reason(routed) if routed.gate else "this bundle has no gate",
        "bars": bars,
        "left_out": left_out,
        # At the ends of the picture, the threshold's label must stay inside.
        "anchor": "start" if routed.threshold < 0.25 else "end" if routed.threshold > 0.75 else "middle",
        "facts": _facts(routed),
        "words": None if routed.explanation is None else _words(routed.explanation),
    }


def _reason(routed: RoutedMessage) -> str:
    """Return the reason as prose, with its word in brackets; empty where it only repeats the decision."""
    reason = routed.reason
    end = next((place for place, sign in enumerate(reason) if sign in ",:"), len(reason))
    word, more = reason[:end], reason[end:]
    if word == Reason.ACTIVATED:
        return more.lstrip(",: ")
    return f"{_REASONS[word]} ({word}){more}" if word in _REASONS else reason


def _bars(routed: RoutedMessage) -> tuple[list[ScoreBar], int]:
    """Return the bars to draw, and how many scores are left out."""
    scores = list(routed.scores.items())
    legible = sum(abs(score) >= _LEAST for _, score in scores)
    drawn = scores[: min(_MAX_BARS, max(_MIN_BARS, legible))]
    bars = [_bar(name, score, routed) for name, score in drawn]
    if routed.background > 0:
        bars.append(ScoreBar(name="no capability", score=routed.background, kind="background", note=""))
        bars.sort(key=lambda bar: -bar.score)
    return bars, len(scores) - len(drawn)


def _bar(name: str, score: float, routed: RoutedMessage) -> ScoreBar:
    if name in routed.activates:
        return ScoreBar(name=name, score=score, kind="chosen", note="activated")
    note = "reaches the threshold" if score >= routed.threshold else ""
    return ScoreBar(name=name, score=score, kind="other", note=note)


def _facts(routed: RoutedMessage) -> list[tuple[str, str]]:
    facts = [("Gate", routed.gate or "none")]
    if routed.scores:
        facts.append(("Threshold", f"{routed.threshold:.4f}"))
        facts.append(("Margin needed", f"{routed.margin:.4f}" if routed.margin else "none"))
        facts.append(("Scored by", "vectors and words" if routed.method == "vectors" else "words alone"))
    if routed.intent.strip() != routed.message.strip():
        facts.append(("Scored text", routed.intent or "nothing was left of it"))
    return facts


def _words(explanation: Explanation) -> dict[str, Any]:
    """Return the words that count most, as (word, effect, decision without it), and how many are left out."""
    counting = [one for one in explanation.words if abs(one.effect) >= _LEAST or one.instead is not None]
    counting.sort(key=lambda one: -abs(one.effect))
    rows = [(one.word, f"{one.effect:+.3f}".replace("-", "−"), one.instead) for one in counting[:_MAX_WORDS]]
    return {"rows": rows, "left_out": len(explanation.words) - len(rows)}
