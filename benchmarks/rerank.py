"""Learns the constants of routing's second stage (`octoc.routing.rerank`), and measures that stage.

First, a logistic regression over the stage's features, on the messages for the sample tap that routing is developed
with: the constants of each half are tested on the other half, beside the shipped ones.

Then workspaces of 3 to 100 capabilities are made from the library of needs: random needs with four to seven messages as
triggers. Each is tested on held-out texts: messages, whole needs and lines of the background. This shows the effect of
`SIZE`, and that constants learned on one tap work elsewhere. Held-out messages are not in the space in which examples
are compared.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import realworld
from benchmarks.routing import DEVELOP, built, messages_of, wanted
from octoc.compiler.calibrate.fit import fit_classifier
from octoc.compiler.calibrate.needs.library import Need, shipped_needs
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
from octoc.compiler.embed.precomputed import precomputed_vectors, shipped_texts
from octoc.compiler.embed.vectors import digest_of, encode
from octoc.plugin.manager import load_plugins
from octoc.routing import rerank
from octoc.routing.classifier import Classifier
from octoc.routing.clean import is_routable

ENCODER = "minilm-l6"
HALVES = DEVELOP[:2]
SIZES = (3, 5, 8, 12, 20, 30, 60, 100)
"""Number of capabilities of each made workspace."""

TAP = 58
"""Number of capabilities of the sample tap."""

SEED = 300
TRIGGERS = (4, 7)
UNMATCHED = 0.3
"""Share of capabilities for which the library has no texts besides their triggers."""

UNHEARD = 3
"""Number of tested messages per need without a training text."""

ABSTAINED = 0.95
"""Share of the messages for no capability that abstain when constants are compared."""

LONG = 4
"""Shorter words do not count as shared between two texts."""

SHARED = ("0 shared", "1 shared", "2 shared")
"""Kinds of messages for a capability: how many words they share with its own texts; 2 means two or more."""

WORKERS = 2
NAMES = ("PROBABILITY", "OWN", "BACKGROUND", "MISSED", "NAMED", "SAID", "SIZE")
LEARNED = 6
"""Number of learned constants; `SIZE` is not, since the sample tap has only one size."""

Vector = NDArray[np.float32]
Numbers = NDArray[np.float64]


@attrs.frozen
class Held:
    """A held-out message: its capabilities, if any, and its kind."""

    text: str
    capabilities: tuple[str, ...]
    kind: str


@attrs.frozen
class Judged:
    """A message's likeliest candidates: whether each is right, and the features that the constants multiply."""

    held: Held
    right: tuple[bool, ...]
    features: Numbers


def main() -> None:
    """Learn, print, and judge."""
    start = time.perf_counter()
    tap = realworld()
    if tap is not None:
        _compare({half: _tap(tap, half) for half in HALVES})
    print("made workspaces; abstains: share of the messages for no capability, each kind alike; last, right by kind")
    print(f"{'capabilities':<14}{'SIZE':>6}{'right':>8}{'wrong':>8}{'abstains':>10}")
    with ProcessPoolExecutor(WORKERS) as pool:
        for size, judged in zip(SIZES, pool.map(_made, range(SEED, SEED + len(SIZES)), SIZES), strict=True):
            without = np.array([*rerank.CONSTANTS[:LEARNED], 0.0])
            # With the size of the sample tap for each workspace.
            same = rerank.BIAS + rerank.SIZE * np.log(TAP)
            for label, constants, bias in (
                ("0", without, same),
                (f"{rerank.SIZE:g}", np.array(rerank.CONSTANTS), rerank.BIAS),
            ):
                right, wrong, kept, by_kind = _outcome(judged, constants, bias)
                kinds = "".join(f"{kind:>10} {by_kind.get(kind, float('nan')):.2f}" for kind in SHARED)
                print(f"{size:<14}{label:>6}{right:>8.2f}{wrong:>8.2f}{kept:>10.3f}{kinds}")
    print(f"{time.perf_counter() - start:.0f} s")


def _compare(halves: Mapping[str, Sequence[Judged]]) -> None:
    """Print the constants of each half, and the results of these and of the shipped ones on the other half."""
    rows = {half: _regression(judged) for half, judged in halves.items()}
    print(f"{'':<14}" + "".join(f"{half:>10}" for half in rows) + f"{'shipped':>10}")
    for place, name in enumerate(NAMES[:LEARNED]):
        print(
            f"{name:<14}"
            + "".join(f"{row[place]:>10.3f}" for row in rows.values())
            + f"{rerank.CONSTANTS[place]:>10.3f}"
        )
    print(f"\nwith {ABSTAINED:.2f} of the messages for no capability abstaining:  right, wrong, right by kind")
    for half, judged in halves.items():
        other = next(one for one in rows if one != half)
        for label, constants in (
            (f"learned on {other}", rows[other]),
            ("shipped", np.array(rerank.CONSTANTS[:LEARNED])),
        ):
            whole = np.append(constants, 0.0)
            others = sorted(_best(one, whole)[0] for one in judged if not one.held.capabilities)
            bias = -others[min(len(others) - 1, int(ABSTAINED * len(others)))] - 1e-9
            right, wrong, _, by_kind = _outcome(judged, whole, bias)
            kinds = "".join(f"  {kind} {share:.2f}" for kind, share in sorted(by_kind.items()))
            print(f"{half:<10}{label:<22}{right:>8.2f}{wrong:>8.2f}{kinds}")
    print()


def _best(one: Judged, constants: Numbers) -> tuple[float, bool]:
    odds = one.features @ constants
    place = int(odds.argmax())
    return float(odds[place]), one.right[place]


def _outcome(judged: Sequence[Judged], constants: Numbers, bias: float) -> tuple[float, float, float, dict[str, float]]:
    """Return the shares: right, wrong (of messages for a capability), abstaining (of the others); and right by kind."""
    right: dict[str, list[bool]] = defaultdict(list)
    kept: dict[str, list[bool]] = defaultdict(list)
    wrong: list[bool] = []
    for one in judged:
        odds, is_right = _best(one, constants)
        active = odds + bias >= 0
        if one.held.capabilities:
            right[one.held.kind].append(active and is_right)
            wrong.append(active and not is_right)
        else:
            kept[one.held.kind].append(not active)
    by_kind = {kind: float(np.mean(values)) for kind, values in right.items()}
    whole = float(np.mean([value for values in right.values() for value in values]))
    return whole, float(np.mean(wrong)), float(np.mean([np.mean(values) for values in kept.values()])), by_kind


def _regression(judged: Sequence[Judged]) -> Numbers:
    """Return a logistic regression's weights for features without scaling."""
    rows = np.concatenate([one.features[:, :LEARNED] for one in judged])
    right = np.concatenate([one.right for one in judged])
    weights = np.concatenate(
        [np.full(len(one.right), weight) for one, weight in zip(judged, _weights(judged), strict=True)]
    )
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    model = LogisticRegression(max_iter=3000).fit((rows - mean) / spread, right, weights / weights.mean())
    constants: Numbers = model.coef_[0] / spread
    return constants


def _weights(judged: Sequence[Judged]) -> list[float]:
    """Return a weight per message: those for a capability count as much as the others, and each kind the same."""
    keys = [(bool(one.held.capabilities), one.held.kind) for one in judged]
    size = Counter(keys)
    kinds = Counter(has_capability for has_capability, _ in size)
    return [1 / (size[key] * kinds[key[0]]) for key in keys]


def _tap(tap: Path, half: str) -> list[Judged]:
    """Score one half of the messages for the sample tap, each by itself."""
    messages = messages_of(half)
    with tempfile.TemporaryDirectory() as folder:
        generation = built(Path(folder), tap, "")
        router = generation.routing.router()
        assert router is not None
        assert router.classifier is not None
        scored = []
        for message in messages:
            intent = router.clean(message["text"])
            if not message.get("before") and is_routable(intent):
                held = Held(intent, tuple(wanted(message)), message["note"])
                scored.append(_features(router.classifier, held, generation.routing.vector(intent)))
    return scored


def _made(seed: int, capabilities: int) -> list[Judged]:
    """Make a workspace, learn the product's classifier on it, and score the held-out messages."""
    own, library, held = _workspace(random.Random(seed), capabilities)
    classifier = Classifier.of(*fit_classifier(own, library, _vectors(), {}))
    return [_features(classifier, one, _vectors()[one.text]) for one in held]


def _features(classifier: Classifier, held: Held, vector: Vector) -> Judged:
    """Return the features in `Nearby.judge` of the likeliest candidates."""
    examples = classifier.nearby
    assert examples is not None
    shares, _ = attrs.evolve(classifier, nearby=None).probabilities(held.text, vector, classifier.classes)
    best = sorted(shares, key=lambda name: -shares[name])[: rerank.LIKELIEST]
    features = np.array(examples.features(held.text, vector, [shares[name] for name in best], best))
    return Judged(held, tuple(name in held.capabilities for name in best), features)


def _workspace(draw: random.Random, capabilities: int) -> tuple[list[Example], list[Example], list[Held]]:
    """Return a workspace's own and background examples, those of the library, and the held-out messages."""
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
        held += [Held(text, (need.name,), SHARED[min(2, len(_long(text) & said))]) for text in left]
    unheard = len(unmet) // 4
    held += [Held(text, (), "need") for need in unmet[:unheard] for text in draw.sample(need.says, UNHEARD)]
    library += [Example(text, None, MISS_WEIGHT, need=need.name) for need in unmet[unheard:] for text in need.says]
    lines = [Example(text, None, BACKGROUND_WEIGHT) for text in background_lines()]
    for kind, learned in (("background", lines), *_further()):
        draw.shuffle(learned)
        quarter = len(learned) // 4
        held += [Held(example.text, (), kind) for example in learned[:quarter]]
        (found if kind == "background" else library).extend(learned[quarter:])
    learned_texts = {example.text for example in (*found, *library)}
    return found, library, [one for one in held if one.text not in learned_texts]


def _further() -> Iterator[tuple[str, list[Example]]]:
    """Yield the further background by file; each file has its own weight."""
    for weight in sorted({example.weight for example in further_background()}):
        yield f"further {weight}", [example for example in further_background() if example.weight == weight]


def _capability(draw: random.Random, need: Need) -> tuple[list[Example], list[Example], list[str]]:
    """Return a need as a capability: its own examples, those of the library, and held-out messages.

    Its triggers are the messages most like its description, as an author would write them.
    """
    key = _long(" ".join(need.described))
    says = sorted(need.says, key=lambda text: -_alike(_long(text), key))
    count = draw.randint(*TRIGGERS)
    left = says[count:]
    draw.shuffle(left)
    half = len(left) // 2
    own = [Example(text, need.name, TRIGGER_WEIGHT, own=True) for text in says[:count]]
    own += [Example(text, need.name, DESCRIPTION_WEIGHT, own=True) for text in need.described]
    known = (
        [Example(text, need.name, LIBRARY_WEIGHT, need=need.name) for text in left[half:]]
        if draw.random() >= UNMATCHED
        else []
    )
    return own, known, left[:half]


def _alike(words: Collection[str], key: set[str]) -> float:
    return float(len(key.intersection(words)) / np.sqrt(len(words) + 3))


def _long(text: str) -> set[str]:
    return {stem for stem in rerank.stems(text) if len(stem) >= LONG}


@cache
def _vectors() -> dict[str, Vector]:
    """Return the vector of each shipped text: a shipped one, or else one encoded here."""
    embedder = load_plugins(["embed-onnx"]).make_embedder(ENCODER, {})
    if embedder is None:
        sys.exit(f"the encoder `{ENCODER}` is not installed")
    ready = precomputed_vectors(embedder.identity, embedder.dimension)
    digests = {text: digest_of(text) for text in shipped_texts()}
    missing = [text for text, digest in digests.items() if digest not in ready]
    encoded = encode(missing, embedder, lambda *_: None) if missing else []
    known = {text: ready[digest] for text, digest in digests.items() if digest in ready}
    return known | dict(zip(missing, encoded, strict=True))


if __name__ == "__main__":
    main()
