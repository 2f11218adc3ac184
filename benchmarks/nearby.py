"""How the constants of the second stage (`octoc.routing.nearby`) are learned, and what that stage brings.

Twelve workspaces are made of the library of needs: random needs with four to seven messages as triggers are the
capabilities. What is held out of each is judged: messages, whole needs, lines of the background. A logistic regression
over what the stage looks at gives the constants; four further workspaces show what they do. Those are other draws of
the same library, by the same hands: how strangers' messages fare is for `benchmarks.routing`.

It prints the learned constants beside the shipped ones. They are not equal to the digit: another draw gives other
digits; these are what shipped. The bias is no outcome of the regression alone, which balances messages for somebody and
for nobody: `CAUTION` is taken from its own, so that one half is where the balanced profile activates. How much to take
was a choice, which nothing here derives.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from octoc.compiler.calibrate.fit import fit_classifier
from octoc.compiler.calibrate.texts import (
    BACKGROUND_WEIGHT,
    DESCRIPTION_WEIGHT,
    LIBRARY_WEIGHT,
    MISS_WEIGHT,
    TRIGGER_WEIGHT,
    Example,
    background_lines,
    further_background,
)
from octoc.compiler.needs import Need, shipped_needs
from octoc.compiler.ready import ready_vectors, shipped_texts
from octoc.compiler.vectors import digest_of, encode
from octoc.plugin.manager import load_plugins
from octoc.routing import nearby
from octoc.routing.classifier import Classifier

ENCODER = "minilm-l6"
LEARNED_ON = (15, 30, 45, 60, 60, 60, 80, 100, 30, 60, 45, 80)
HELD_OUT = (30, 60, 60, 100)
"""How many capabilities each workspace has."""

SEED = 100
TRIGGERS = (4, 7)
UNMATCHED = 0.3
"""The share of capabilities of which the library knows nothing beside their triggers."""

UNHEARD = 3
"""So many messages are judged of each need that is in no training text."""

LONG = 4
"""A word of fewer letters tells nothing about what two texts share."""

CAUTION = 0.5
SHARED = ("0 shared", "1 shared", "2 shared")
"""Kinds of messages for somebody: how many words, 2 and more alike, they share with what the capability says itself."""

WORKERS = 2
NAMES = ("PROBABILITY", "LEAD", "OWN", "BACKGROUND", "NAMED")

Vector = NDArray[np.float32]
Numbers = NDArray[np.float64]


@attrs.frozen
class Held:
    """A held-out message: the capability that it is for, None for nobody, and its kind."""

    text: str
    capability: str | None
    kind: str


@attrs.frozen
class Judged:
    """The held-out messages of some workspaces: features of each, whether the likeliest is right, a kind, a weight."""

    features: Numbers
    right: NDArray[np.bool_]
    somebody: NDArray[np.bool_]
    kinds: NDArray[np.str_]
    weights: Numbers


def main() -> None:
    """Learn, print, and judge."""
    start = time.perf_counter()
    with ProcessPoolExecutor(WORKERS) as pool:
        sizes = (*LEARNED_ON, *HELD_OUT)
        judged = list(pool.map(_judged, range(SEED, SEED + len(sizes)), sizes))
    learned_on, held_out = _joined(judged[: len(LEARNED_ON)]), _joined(judged[len(LEARNED_ON) :])
    constants, balanced = _regression(learned_on)
    bias = balanced - CAUTION
    shipped = np.array([getattr(nearby, name) for name in NAMES])
    print(
        f"{len(LEARNED_ON)} workspaces, {len(learned_on.right)} held-out messages\n{'':<12}{'learned':>9}{'shipped':>9}"
    )
    for name, ours, theirs in zip((*NAMES, "BIAS"), (*constants, bias), (*shipped, nearby.BIAS), strict=True):
        print(f"{name:<12}{ours:>9.3f}{theirs:>9.3f}")
    print(f"the regression's own bias, somebody and nobody balanced: {balanced:.3f}\n")
    _compare(held_out, constants, bias, shipped)
    print(f"{time.perf_counter() - start:.0f} s")


def _compare(held_out: Judged, constants: Numbers, bias: float, shipped: Numbers) -> None:
    somebody = int(held_out.somebody.sum())
    nobody = len(held_out.right) - somebody
    print(f"{len(HELD_OUT)} further workspaces: {somebody} messages for somebody, {nobody} not; last, right by kind")
    print(
        f"{'':<50}{'right':>8}{'abstains':>10}{'wrong':>8}{'nobody: abstains':>19}"
        + "".join(f"{kind:>10}" for kind in SHARED)
    )
    by_shipped = held_out.features @ shipped + nearby.BIAS
    by_learned = held_out.features @ constants + bias
    alone = held_out.features[:, 0]
    for label, odds in (("shipped", by_shipped), ("learned", by_learned)):
        # Before is held to the abstention of after, so that the two differ in one thing.
        abstained = float(held_out.weights[~held_out.somebody & (odds < 0)].sum())
        abstained /= float(held_out.weights[~held_out.somebody].sum())
        before = alone - _threshold(alone, held_out, abstained)
        _row(f"before: probability alone, as cautious as {label}", before, held_out)
        _row(f"after: {label} constants, at one half", odds, held_out)


def _row(label: str, odds: Numbers, held_out: Judged) -> None:
    active = odds >= 0
    of = held_out.somebody
    nobody = held_out.weights[~of]
    figures = ((active & held_out.right)[of], ~active[of], (active & ~held_out.right)[of])
    right, abstains, wrong = (float(figure.mean()) for figure in figures)
    kept = float(nobody[~active[~of]].sum() / nobody.sum())
    by_kind = (f"{float((active & held_out.right)[held_out.kinds == kind].mean()):>10.3f}" for kind in SHARED)
    print(f"{label:<50}{right:>8.3f}{abstains:>10.3f}{wrong:>8.3f}{kept:>19.3f}" + "".join(by_kind))


def _regression(judged: Judged) -> tuple[Numbers, float]:
    """Return a logistic regression's weights, of features as they are, and its bias."""
    mean, spread = judged.features.mean(axis=0), judged.features.std(axis=0)
    weights = judged.weights / judged.weights.mean()
    model = LogisticRegression(max_iter=1000).fit((judged.features - mean) / spread, judged.right, weights)
    constants: Numbers = model.coef_[0] / spread
    return constants, float(model.intercept_[0] - constants @ mean)


def _threshold(scores: Numbers, judged: Judged, abstained: float) -> float:
    """Return what `abstained` of the messages for nobody, by weight, stay below."""
    nobody, weights = scores[~judged.somebody], judged.weights[~judged.somebody]
    order = np.argsort(nobody, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    place = min(int(np.searchsorted(below, abstained + 1e-9)), len(order) - 1)
    return float(nobody[order[place]])


def _joined(judged: Sequence[Judged]) -> Judged:
    return Judged(
        np.concatenate([one.features for one in judged]),
        np.concatenate([one.right for one in judged]),
        np.concatenate([one.somebody for one in judged]),
        np.concatenate([one.kinds for one in judged]),
        np.concatenate([one.weights for one in judged]),
    )


def _judged(seed: int, capabilities: int) -> Judged:
    """Make a workspace, learn the product's classifier on it, and judge what was held out."""
    found, library, held = _workspace(random.Random(seed), capabilities)
    classifier = Classifier.of(*fit_classifier(found, library, _vectors(), {}))
    rows = [_features(classifier, one.text, _vectors()[one.text]) for one in held]
    return Judged(
        np.array([features for _, features in rows]),
        np.array([best == one.capability for (best, _), one in zip(rows, held, strict=True)]),
        np.array([one.capability is not None for one in held]),
        np.array([one.kind for one in held]),
        _weights(held),
    )


def _weights(held: Sequence[Held]) -> Numbers:
    """Return a weight per message: those for somebody count as much as those for nobody, each kind alike."""
    size = Counter((one.capability is not None, one.kind) for one in held)
    kinds = Counter(somebody for somebody, _ in size)
    keys = [(one.capability is not None, one.kind) for one in held]
    return np.array([1 / (size[key] * kinds[key[0]]) for key in keys])


def _features(classifier: Classifier, text: str, vector: Vector) -> tuple[str, list[float]]:
    """Return the likeliest capability, and what each constant is multiplied with when `Nearby.judge` weighs it."""
    examples = classifier.nearby
    assert examples is not None
    shares, _ = attrs.evolve(classifier, nearby=None).probabilities(text, vector, classifier.classes)
    second, first = sorted(shares.values())[-2:]
    best = max(shares, key=shares.__getitem__)
    own, background = examples.vectors[slice(*examples.rows[best])], examples.vectors[examples.background :]
    return best, [
        float(np.log(first)),
        min(nearby.MAX_LEAD, float(np.log(first / second))),
        _nearest(own, vector),
        _nearest(background, vector),
        examples.named(text, best),
    ]


def _nearest(examples: Vector, vector: Vector) -> float:
    return float(np.sort(examples @ vector)[-nearby.NEAREST :].mean())


def _workspace(draw: random.Random, capabilities: int) -> tuple[list[Example], list[Example], list[Held]]:
    """Return a workspace's own examples and the background, the library's, and what is held out."""
    needs = list(shipped_needs())
    draw.shuffle(needs)
    met, unmet = needs[:capabilities], needs[capabilities:]
    found: list[Example] = []
    library: list[Example] = []
    held: list[Held] = []
    for need in met:
        own, known, left = _capability(draw, need)
        found += own
        library += known
        said = set[str]().union(*(_long(example.text) for example in own))
        held += [Held(text, need.name, SHARED[min(2, len(_long(text) & said))]) for text in left]
    unheard = len(unmet) // 4
    held += [Held(text, None, "need") for need in unmet[:unheard] for text in draw.sample(need.says, UNHEARD)]
    library += [Example(text, None, MISS_WEIGHT) for need in unmet[unheard:] for text in need.says]
    lines = [Example(text, None, BACKGROUND_WEIGHT) for text in background_lines()]
    for kind, learned in (("background", lines), *_further()):
        draw.shuffle(learned)
        quarter = len(learned) // 4
        held += [Held(example.text, None, kind) for example in learned[:quarter]]
        (found if kind == "background" else library).extend(learned[quarter:])
    learned_texts = {example.text for example in (*found, *library)}
    return found, library, [one for one in held if one.text not in learned_texts]


def _further() -> Iterator[tuple[str, list[Example]]]:
    """Yield the further background by file, which its weights tell apart."""
    for weight in sorted({example.weight for example in further_background()}):
        yield f"further {weight}", [example for example in further_background() if example.weight == weight]


def _capability(draw: random.Random, need: Need) -> tuple[list[Example], list[Example], list[str]]:
    """Return a need as a capability, what the library says of it beside, and messages that are held out.

    Its triggers are the messages that are most like its description, as an author would write them.
    """
    key = _long(" ".join(need.described))
    says = sorted(need.says, key=lambda text: -_alike(_long(text), key))
    count = draw.randint(*TRIGGERS)
    left = says[count:]
    draw.shuffle(left)
    half = len(left) // 2
    own = [Example(text, need.name, TRIGGER_WEIGHT, own=True) for text in says[:count]]
    own += [Example(text, need.name, DESCRIPTION_WEIGHT, own=True) for text in need.described]
    known = [Example(text, need.name, LIBRARY_WEIGHT) for text in left[half:]] if draw.random() >= UNMATCHED else []
    return own, known, left[:half]


def _alike(words: Collection[str], key: set[str]) -> float:
    return float(len(key.intersection(words)) / np.sqrt(len(words) + 3))


def _long(text: str) -> set[str]:
    return {stem for stem in nearby.stems(text) if len(stem) >= LONG}


@cache
def _vectors() -> dict[str, Vector]:
    """Return the vector of every text that ships, of those that ship themselves or else encoded here."""
    embedder = load_plugins(["embed-onnx"]).make_embedder(ENCODER, {})
    if embedder is None:
        sys.exit(f"the encoder `{ENCODER}` is not installed")
    ready = ready_vectors(embedder.identity, embedder.dimension)
    digests = {text: digest_of(text) for text in shipped_texts()}
    missing = [text for text, digest in digests.items() if digest not in ready]
    encoded = encode(missing, embedder, lambda *_: None) if missing else []
    known = {text: ready[digest] for text, digest in digests.items() if digest in ready}
    return known | dict(zip(missing, encoded, strict=True))


if __name__ == "__main__":
    main()
