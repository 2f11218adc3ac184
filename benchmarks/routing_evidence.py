"""How `octoc.routing.evidence` was chosen: constants from two development fields, judged on messages of the third.

`python -m benchmarks.routing_evidence [--encoder NAME]` builds a tap of each field, and taps of all fields of 100 to
500 capabilities. `none` is the gate without further evidence. `chosen` are constants of the other two fields: a
logistic regression beside the score. `shipped` are those of the product. The bias of both keeps as many of the messages
for no capability inactive as without evidence, in the taps of the other two fields. In a tap of all fields a message
for no capability of its own field may be for one of another field, and still counts as wrongly activated.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.routing_fields import (
    DEVELOP,
    Message,
    Remembering,
    built,
    by_wording,
    encoder_asked,
    ordered,
    read,
    remembering_encoder,
    shipped_fillers,
)
from octoc.routing.clean import is_routable
from octoc.routing.evidence import WITHOUT_NEEDS, Evidence
from octoc.routing.gate import EXAMPLES_THRESHOLDS
from octoc.runtime.loaded_bundle import LoadedBundle

ORDERS = {100: 2, 300: 1, 500: 1}
KINDS = ("hard, shared words", "hard", "plain", "none")
NONE = Evidence(words=0, asks=0, size=0, bias=0)
THRESHOLD = math.log(EXAMPLES_THRESHOLDS["balanced"] / (1 - EXAMPLES_THRESHOLDS["balanced"]))


@attrs.frozen
class Scored:
    """A message in a tap: the log-odds of the first capability without evidence, and the features of evidence."""

    message: Message
    right: bool
    odds: float
    told: float
    asks: float
    capabilities: int

    def active(self, evidence: Evidence) -> bool:
        return self.odds + evidence.odds(self.told, self.asks, self.capabilities) >= THRESHOLD


def main() -> None:
    """Measure and print."""
    taps = _taps(remembering_encoder(encoder_asked()))
    own = {field: taps.pop(field) for field in DEVELOP}
    rows: dict[str, dict[str, list[tuple[Scored, bool]]]] = {name: {} for name in ("none", "chosen", "shipped")}
    for left in DEVELOP:
        others = [field for field in DEVELOP if field != left]
        unfit = [one for field in others for one in own[field] if one.message.kind == "none"]
        kept = sum(not one.active(NONE) for one in unfit)
        training = [one for scored in taps.values() for one in scored if one.message.field in others]
        words, asks = _learned([*training, *(one for field in others for one in own[field])])
        chosen = _level(attrs.evolve(WITHOUT_NEEDS, words=words, asks=asks), unfit, kept)
        shipped = _level(WITHOUT_NEEDS, unfit, kept)
        print(
            f"without {left:<12}words {words:.2f}  asks {asks:.2f}  bias {chosen.bias:.2f}, shipped {shipped.bias:.2f}"
        )
        for label, evidence in (("none", NONE), ("chosen", chosen), ("shipped", shipped)):
            for tap, scored in (*taps.items(), ("its field", own[left])):
                of_left = [(one, one.active(evidence)) for one in scored if one.message.field == left]
                rows[label].setdefault(tap, []).extend(of_left)
    print(f"\nright, wrong by kind; abstains\n{'':<20}" + "".join(f"{kind:>22}" for kind in KINDS))
    for tap in rows["none"]:
        for label, by_tap in rows.items():
            print(f"{tap:<11}{label:<9}" + "".join(f"{cell:>22}" for cell in _cells(by_tap[tap])))
    _every(own, taps)


def _every(own: Mapping[str, Sequence[Scored]], taps: Mapping[str, Sequence[Scored]]) -> None:
    """Print the constants that all fields give together."""
    every = [one for scored in (*own.values(), *taps.values()) for one in scored]
    words, asks = _learned(every)
    unfit = [one for scored in own.values() for one in scored if one.message.kind == "none"]
    level = _level(WITHOUT_NEEDS, unfit, sum(not one.active(NONE) for one in unfit))
    print(f"\nall fields: words {words:.2f}, asks {asks:.2f}; shipped {WITHOUT_NEEDS.words}, {WITHOUT_NEEDS.asks}")
    print(f"bias for as many abstentions as without evidence: {level.bias:.2f}; shipped {WITHOUT_NEEDS.bias}")


def _taps(embedder: Remembering) -> dict[str, list[Scored]]:
    """Return the scored messages by tap: each field's own, and by the number of capabilities."""
    found: dict[str, list[Scored]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for field in DEVELOP:
            capabilities, messages = read([field])
            found[field] = _scored(built(root, capabilities, embedder), messages, embedder)
        capabilities, messages = read(DEVELOP)
        for size, orders in ORDERS.items():
            for order in range(orders):
                tap = ordered(capabilities, messages, shipped_fillers(), order)[:size]
                found.setdefault(str(size), []).extend(_scored(built(root, tap, embedder), messages, embedder))
    return found


def _scored(loaded: LoadedBundle, messages: Iterable[Message], embedder: Remembering) -> list[Scored]:
    router = loaded.routing.router()
    if router is None or router.classifier is None or router.classifier.nearby is None:
        raise SystemExit("the tap's gate does not weigh examples")
    classifier, nearby = router.classifier, attrs.evolve(router.classifier.nearby, evidence=None)
    plain = attrs.evolve(classifier, nearby=nearby)
    scored = []
    for message in (by_wording(one, loaded) for one in messages if not one.expect or one.expect in loaded.capabilities):
        text = router.clean(message.text)
        if message.kind not in KINDS or not is_routable(text):
            continue
        vector = embedder.embed(text)
        shares, _ = plain.probabilities(text, vector, classifier.classes)
        first, share = next(iter(shares.items()))
        odds = math.log(max(share, 1e-300) / max(1 - share, 1e-12))
        features = (odds, nearby.told(text, first), classifier.asking(vector))
        scored.append(Scored(message, first == message.expect, *features, len(classifier.classes)))
    return scored


def _learned(scored: Sequence[Scored]) -> tuple[float, float]:
    """Return the weights of words and of asking, in units of the score's log-odds; each side of messages alike."""
    features = np.array([[one.odds, one.told, one.asks] for one in scored])
    wanted = np.array([bool(one.message.expect) for one in scored])
    model = LogisticRegression(max_iter=2000)
    model.fit(
        features, [one.right for one in scored], sample_weight=np.where(wanted, 1 / wanted.mean(), 1 / (~wanted).mean())
    )
    odds, words, asks = model.coef_[0]
    return float(words / odds), float(asks / odds)


def _level(evidence: Evidence, unfit: Sequence[Scored], kept: int) -> Evidence:
    """Return the evidence with the bias at which so many of the messages for no capability activate nothing."""
    at_zero = attrs.evolve(evidence, bias=0)
    sums = sorted(one.odds + at_zero.odds(one.told, one.asks, one.capabilities) for one in unfit)
    return attrs.evolve(evidence, bias=THRESHOLD - sums[kept - 1] - 1e-9)


def _cells(judged: Sequence[tuple[Scored, bool]]) -> Iterable[str]:
    for kind in KINDS:
        of_kind = [(one, active) for one, active in judged if one.message.kind == kind]
        active = [one for one, is_active in of_kind if is_active]
        if kind == "none":
            yield f"{1 - len(active) / len(of_kind):.3f}"
        elif of_kind:
            right = sum(one.right for one in active)
            yield f"{right / len(of_kind):.3f}, {(len(active) - right) / len(of_kind):.3f}"
        else:
            yield ""


if __name__ == "__main__":
    main()
