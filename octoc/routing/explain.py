"""Why a message was decided as it was: the effect of each word, the nearest triggers, and what would change it.

All values come from the router itself, so that the explanation matches the decision, whatever the gate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import attrs
import numpy as np

from octoc.bundle.model import CapabilityEntry
from octoc.plain_text import shortened
from octoc.routing.clean import MIN_INTENT_CHARS
from octoc.routing.decision import Decision, Reason
from octoc.routing.gate import NONE_HELD
from octoc.routing.languages import letters_in
from octoc.routing.router import Router, Vector
from octoc.search.words import clauses

MAX_WORDS = 60
"""Words whose effect is computed, from the start of a message."""

NO_CAPABILITY = "no capability"
"""The name of a rival that is the background: the message is for no capability."""

_SHOWN = 120


@attrs.frozen(kw_only=True)
class WordEffect:
    """The effect of a word: the best score with it minus the best score without it, in the gate's own unit.

    `instead` is the capability that would be activated without it, `none` for none; None if the decision stays.
    """

    word: str
    effect: float
    instead: str | None = None


@attrs.frozen(kw_only=True)
class NearTrigger:
    """The trigger of a capability nearest to the message: by cosine, or by the share of equal words."""

    capability: str
    trigger: str
    similarity: float


@attrs.frozen(kw_only=True)
class ClauseWinner:
    """The capability that one clause of a message is for, None for no capability, and the reason."""

    clause: str
    winner: str | None
    reason: Reason


@attrs.frozen(kw_only=True)
class Explanation:
    """The explanation of a decision.

    Args:
        text: the scored text: the intent, after an earlier message of the user if that took part.
        best: the capability with the highest score, None if nothing was scored; `rival` the next, or `NO_CAPABILITY`.
        parts: the log-odds of `best` against `rival` by origin: `words` from characters, `meaning` from the vector,
            `prior` for any message, `nearby` from the examples. Only with the calibrated gate.
        words: in the order of the message, each distinct word once.
        triggers: those of `best`, then those of `rival`.
        clauses: the winner of each, if a message may activate several; empty for a single clause.
        changes: what would have changed the decision, one sentence each.
    """

    text: str
    best: str | None = None
    best_score: float = 0.0
    rival: str | None = None
    rival_score: float = 0.0
    parts: Mapping[str, float] = attrs.field(factory=dict)
    words: tuple[WordEffect, ...] = ()
    triggers: tuple[NearTrigger, ...] = ()
    clauses: tuple[ClauseWinner, ...] = ()
    changes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False)
class DecisionInputs:
    """The inputs of a decision other than the message.

    Args:
        embed: returns a text's vector, None if it fails; None without an encoder.
        triggers: shape (n, d), the member `triggers.npy`, with the capabilities' `rows`.
        candidates, held: as for `Router.decide`.
    """

    router: Router
    capabilities: Mapping[str, CapabilityEntry]
    triggers: Vector
    candidates: Collection[str]
    held: Mapping[str, Reason] = NONE_HELD
    embed: Callable[[str], Vector | None] | None = None

    def decide(self, text: str) -> Decision:
        """Decide a text as the runtime does."""
        return self.router.decide(text, self.vector(text), self.candidates, self.held)

    def vector(self, text: str) -> Vector | None:
        return None if self.embed is None or not text.strip() else self.embed(text)


def explain(text: str, field: DecisionInputs) -> Explanation:
    """Explain the decision on a cleaned text. Decides once for each of its words."""
    decision = field.decide(text)
    if not decision.scores:
        return Explanation(text=text, changes=_changes(text, decision, None, ()))
    (best, best_score), *others = decision.scores.items()
    second = others[0] if others else None
    rival, rival_score = second or (None, 0.0)
    if decision.background >= rival_score and decision.background > 0:
        rival, rival_score = NO_CAPABILITY, decision.background
    words = _effects(text, decision, best, field)
    return Explanation(
        text=text,
        best=best,
        best_score=best_score,
        rival=rival,
        rival_score=rival_score,
        parts=_parts(text, (best, best_score), (rival, rival_score), field),
        words=words,
        triggers=tuple(
            near
            for name in dict.fromkeys((best, rival, second[0] if second else None))
            if name is not None and (near := _nearest(text, name, field)) is not None
        ),
        clauses=_clauses(text, field),
        changes=_changes(text, decision, second, words),
    )


def stripped(message: str, intent: str) -> tuple[str, ...]:
    """Return the lines of a message that its intent does not have, shortened, without blank lines."""
    kept = Counter(line.strip() for line in intent.splitlines())
    dropped = []
    for line in (one.strip() for one in message.splitlines()):
        if not line:
            continue
        if kept[line]:
            kept[line] -= 1
        else:
            dropped.append(shortened(line, _SHOWN))
    return tuple(dropped)


def _clauses(text: str, field: DecisionInputs) -> tuple[ClauseWinner, ...]:
    parts = clauses(text) if field.router.most > 1 else ()
    if len(parts) < 2:
        return ()
    decided = ((part, field.decide(part)) for part in parts)
    return tuple(ClauseWinner(clause=part, winner=one.winner, reason=one.reason) for part, one in decided)


def _effects(text: str, decision: Decision, best: str, field: DecisionInputs) -> tuple[WordEffect, ...]:
    words = text.split()
    whole = decision.scores[best]
    effects = []
    for word in list(dict.fromkeys(words))[:MAX_WORDS]:
        without = field.decide(" ".join(one for one in words if one != word))
        score = without.scores.get(best, 0.0)
        instead = None if without.capability == decision.capability else without.capability or "none"
        effects.append(WordEffect(word=word, effect=whole - score, instead=instead))
    return tuple(effects)


def _parts(
    text: str, first: tuple[str, float], second: tuple[str | None, float], field: DecisionInputs
) -> dict[str, float]:
    """Return the parts of the log-odds of the first against the second; their sum is what decided.

    Args:
        first, second: a name and its score.
    """
    classifier = field.router.classifier
    (best, best_score), (rival, rival_score) = first, second
    if classifier is None or rival is None or best not in classifier.classes:
        return {}
    places = {name: number for number, name in enumerate(classifier.classes)}
    one, other = places[best], places.get(rival, len(places))
    vector = field.vector(text)
    model = classifier.words if vector is None or classifier.full is None else classifier.full
    if model is None:
        return {}
    columns, values = classifier.ngrams.transform(text)
    rows = model.grams[columns].astype(np.float64)
    parts = {
        "words": float(np.sum((rows[:, one] - rows[:, other]) * values)),
        "prior": float(model.bias[one]) - float(model.bias[other]),
    }
    if vector is not None and model.vectors is not None and model.mean is not None:
        centred = (vector - model.mean).astype(np.float64)
        parts["meaning"] = float(np.sum((model.vectors[one] - model.vectors[other]) * centred))
        if classifier.nearby is not None and best_score > 0 and rival_score > 0:
            parts["nearby"] = math.log(best_score / rival_score) - math.fsum(parts.values())
    return parts


def _nearest(text: str, name: str, field: DecisionInputs) -> NearTrigger | None:
    entry = field.capabilities.get(name)
    if entry is None or not entry.triggers:
        return None
    vector = field.vector(text)
    start, stop = entry.rows
    if vector is not None and stop - start == len(entry.triggers) and field.triggers.shape[1] == len(vector):
        likeness: Sequence[float] = np.einsum("nd,d->n", field.triggers[start:stop], vector).tolist()
    else:
        own = set(text.lower().split())
        likeness = [_shared(own, set(trigger.lower().split())) for trigger in entry.triggers]
    place = max(range(len(likeness)), key=lambda number: (likeness[number], -number))
    return NearTrigger(capability=name, trigger=entry.triggers[place], similarity=float(likeness[place]))


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _changes(
    text: str, decision: Decision, second: tuple[str, float] | None, words: Sequence[WordEffect]
) -> tuple[str, ...]:
    changes = []
    best, score = next(iter(decision.scores.items()), ("", 0.0))
    lead = score - (second[1] if second else 0.0)
    match decision.reason:
        case Reason.TOO_SHORT:
            changes.append(f"at least {MIN_INTENT_CHARS} characters that are not blanks; it has {letters_in(text)}")
        case Reason.NO_CANDIDATES:
            changes.append("a capability in the agent's scope")
        case Reason.NO_ENCODER:
            changes.append("an encoder, which this gate cannot do without")
        case Reason.OTHER_LANGUAGE:
            changes.append("words of a trigger, or an encoder for the message's language")
        case Reason.MARGIN:
            changes.append(f"a margin of at most {lead:.4f}; `{best}` leads by that, and needs {decision.margin:.4f}")
        case Reason.BELOW_THRESHOLD | Reason.BACKGROUND:
            changes.append(
                f"a threshold of at most {score:.4f} would activate `{best}`; it is {decision.threshold:.4f}"
            )
            changes.append(f"a trigger of `{best}` that says it this way, if it is meant")
        case Reason.ACTIVATED:
            changes.append(f"a threshold above {score:.4f} would abstain; it is {decision.threshold:.4f}")
            if decision.margin:
                changes.append(f"a margin above {lead:.4f} would abstain; it is {decision.margin:.4f}")
        case _:
            changes.append(f"`{best}` could be activated if it were not for the reason above")
    for effect in sorted((one for one in words if one.instead is not None), key=lambda one: -abs(one.effect))[:3]:
        result = "it would abstain" if effect.instead == "none" else f"it would activate `{effect.instead}`"
        changes.append(f"without `{effect.word}` {result}")
    return tuple(changes)
