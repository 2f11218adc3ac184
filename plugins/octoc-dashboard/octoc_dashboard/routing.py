"""Where a typed message would be routed, as bars against the threshold. Decides as a new client's session would."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from octoc.routing.decision import Reason
from octoc.runtime.explain_route import explain_route
from octoc.runtime.route import NO_GATE
from octoc_serve.page.look import fresh
from octoc_serve.page.markup import Child, Markup, tag
from octoc_serve.page.tables import facts, table

if TYPE_CHECKING:
    from octoc.routing.explain import Explanation, WordEffect
    from octoc.runtime import Routing
    from octoc_serve.door import Door
    from octoc_serve.session_store import Key

MAX_MESSAGE_CHARS = 10_000
_MOST_BARS = 10
_FEWEST_BARS = 3
_MOST_WORDS = 20
_LEAST = 0.0005
"""What is written as 0.000: a bar or a word that says nothing."""
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
class Routed:
    """A message and what was decided of it. `gate` is the gate's kind, with its profile; `why` None where none is."""

    message: str
    routing: Routing
    why: Explanation | None
    gate: str


class Asker:
    """Routes messages one at a time: explaining one takes as long as deciding it once for each of its words."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._turn = asyncio.Lock()

    async def ask(self, key: Key, message: str) -> Routed:
        """Return how a message is routed. Raises: BundleRefused, LookupError when there is no such agent any more."""
        async with self._turn, fresh(self._door, key) as session:
            routing, why = await asyncio.to_thread(explain_route, session, message, ())
            gate = session.generation.bundle.gate
        profile = "" if gate is None else str(gate.data.get("profile", ""))
        kind = "none" if gate is None else " ".join(part for part in (gate.kind, profile) if part)
        return Routed(message=message, routing=routing, why=why, gate=kind)


def outcome(routed: Routed) -> Markup:
    """Return the decision, the picture of the scores and the reasons, as HTML."""
    routing = routed.routing
    return tag(
        "div",
        tag("h3", "Decision", id="decision"),
        tag("p", *_decision(routing), class_="decision"),
        _bars(routing) if routing.scores else None,
        _facts(routed),
        None if routed.why is None else _changes(routed.why),
        None if routed.why is None or not routed.why.triggers else _triggers(routed.why),
        None if routed.why is None or not routed.why.words else _words(routed.why),
        class_="outcome",
        role="status",
    )


def _decision(routing: Routing) -> Iterator[Child]:
    names = [name for name in (routing.capability, *routing.also) if name is not None]
    if names:
        yield "Would activate "
        for number, name in enumerate(names):
            yield ", " if number else None
            yield tag("strong", tag("bdi", name))
    else:
        yield tag("strong", "Would activate nothing")
    reason = "this bundle has no gate" if routing.reason == NO_GATE else _said(routing.reason)
    if reason:
        yield tag("span", f" — {reason}", class_="why")


def _said(reason: str) -> str:
    """Return a reason as prose, with its word for who looks it up; nothing where it only repeats the decision."""
    end = next((place for place, sign in enumerate(reason) if sign in ",:"), len(reason))
    word, more = reason[:end], reason[end:]
    if word == Reason.ACTIVATED:
        return more.lstrip(",: ")
    return f"{_REASONS[word]} ({word}){more}" if word in _REASONS else reason


def _bars(routing: Routing) -> Markup:
    scores = [(name, score, False) for name, score in routing.scores.items()]
    worth = sum(abs(score) >= _LEAST for _, score, _ in scores)
    shown = scores[: min(_MOST_BARS, max(_FEWEST_BARS, worth))]
    left_out = len(scores) - len(shown)
    if routing.background > 0:
        shown = sorted([*shown, ("no capability", routing.background, True)], key=lambda one: -one[1])
    activated = {routing.capability, *routing.also}
    rows = [
        _bar(name, score, routing.threshold, chosen=name in activated and not nobody, nobody=nobody)
        for name, score, nobody in shown
    ]
    more = f"{left_out} more with lower scores are not drawn." if left_out > 0 else None
    return tag(
        "figure",
        tag(
            "figcaption",
            f"Scores, from 0 to 1; the line is the threshold, {routing.threshold:.2f}.",
            f" {more}" if more else None,
        ),
        tag("div", _scale(routing.threshold), class_="bar-row scale", aria_hidden="true"),
        tag("ol", rows, class_="bars"),
    )


def _scale(threshold: float) -> Markup:
    place = _percent(threshold)
    # At its ends the label must not leave the picture.
    anchor = "start" if threshold < 0.25 else "end" if threshold > 0.75 else "middle"
    return tag(
        "svg",
        tag("text", f"threshold {threshold:.2f}", x=place, y="12", text_anchor=anchor),
        class_="bar",
        width="100%",
        height="18",
        focusable="false",
    )


def _bar(name: str, score: float, threshold: float, *, chosen: bool, nobody: bool) -> Markup:
    reaches = score >= threshold and not nobody
    kind = "chosen" if chosen else "nobody" if nobody else "other"
    drawing = tag(
        "svg",
        tag("rect", class_="track", x="0", y="9", width="100%", height="10"),
        tag("rect", class_="score", x="0", y="9", width=_percent(score), height="10"),
        tag("line", class_="threshold", x1=_percent(threshold), x2=_percent(threshold), y1="0", y2="28"),
        class_="bar",
        width="100%",
        height="28",
        aria_hidden="true",
        focusable="false",
    )
    words = "activated" if chosen else "reaches the threshold" if reaches else None
    return tag(
        "li",
        tag("span", tag("bdi", name), class_="bar-name"),
        drawing,
        tag("span", f"{score:.3f}", tag("span", f" {words}", class_="note") if words else None, class_="bar-value"),
        class_=f"bar-row {kind}",
    )


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def _facts(routed: Routed) -> Markup:
    routing = routed.routing
    pairs: list[tuple[str, str]] = [("Gate", routed.gate)]
    if routing.scores:
        pairs.append(("Threshold", f"{routing.threshold:.4f}"))
        pairs.append(("Margin needed", f"{routing.margin:.4f}" if routing.margin else "none"))
        pairs.append(("Scored by", "vectors and words" if routing.method == "vectors" else "words alone"))
    if routing.intent.strip() != routed.message.strip():
        pairs.append(("Scored text", routing.intent or "nothing was left of it"))
    return facts((name, tag("bdi", value)) for name, value in pairs)


def _changes(why: Explanation) -> Markup | None:
    if not why.changes:
        return None
    return tag("div", tag("h4", "What would change it"), tag("ul", (tag("li", _coded(one)) for one in why.changes)))


def _triggers(why: Explanation) -> Markup:
    rows = ([tag("bdi", one.capability), tag("bdi", one.trigger), f"{one.similarity:.2f}"] for one in why.triggers)
    return table("Nearest triggers", ("Capability", "Trigger", "Likeness"), rows, ("Likeness",))


def _words(why: Explanation) -> Markup:
    counting = [one for one in why.words if abs(one.effect) >= _LEAST or one.instead is not None]
    counting.sort(key=lambda one: -abs(one.effect))
    caption: list[Child] = ["What a word gives ", tag("bdi", why.best or "")]
    left_out = len(why.words) - len(counting[:_MOST_WORDS])
    if left_out:
        caption.append(f"; {left_out} that give less are left out")
    words = table(caption, ("Word", "Score", "Without it"), map(_word, counting[:_MOST_WORDS]), ("Score",))
    return tag("details", tag("summary", "Word by word"), words)


def _word(effect: WordEffect) -> list[Child]:
    match effect.instead:
        case None:
            instead: Child = "the same"
        case "none":
            instead = "nothing"
        case name:
            instead = tag("bdi", name)
    return [tag("bdi", effect.word), f"{effect.effect:+.3f}".replace("-", "−"), instead]


def _coded(text: str) -> list[Child]:
    """Return text with what stands in backticks as code."""
    return [tag("code", part) if number % 2 else part for number, part in enumerate(text.split("`"))]
