"""A threshold for a stated precision, chosen on the workspace's fixtures. Loads numpy when there are some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.routing.clean import clean_intent, is_routable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octoc.compiler.model.build import Build
    from octoc.routing.classifier import Classifier
    from octoc.routing.fixtures import RoutingFixture

FEWEST = 20
"""So many activations at least are behind a threshold: a share of fewer says little."""

FOLDS = 5
HIGHEST = 0.9
STEP = 0.005
"""Thresholds from the eager profile's to `HIGHEST`, `STEP` apart, are tried."""

Judged = tuple[tuple[float, bool], ...]
"""What one message may activate, the best first: its score, and whether the fixture expects it."""


@attrs.frozen(kw_only=True)
class Chosen:
    """A threshold, and how precise it was.

    Args:
        messages: fixtures that it was chosen on.
        right, activated: on all of them.
        held_right, held_activated: on each fifth, at the threshold that the other four chose.
        reached: whether it is as precise as was asked; else it is the cautious profile's.
    """

    threshold: float
    messages: int
    right: int
    activated: int
    held_right: int
    held_activated: int
    reached: bool


def fixture_intents(build: Build) -> tuple[str, ...]:
    """Return what is scored of the fixtures where a precision is stated."""
    return tuple(dict.fromkeys(intent for _, intent in _alone(build)))


def _alone(build: Build) -> Iterator[tuple[RoutingFixture, str]]:
    """Yield each message that stands alone with its intent: what follows another is decided together with that."""
    if build.settings.routing.precision is None:
        return
    for fixture in build.resolved.fixtures.messages:
        intent = clean_intent(fixture.text)
        if not fixture.before and is_routable(intent):
            yield fixture, intent


def judge_fixtures(
    build: Build,
    classifier: Classifier,
    vectors: Mapping[str, NDArray[np.float32]] | None,
    most: int,
) -> tuple[Judged, ...]:
    """Return what the gate would make of each fixture at a threshold of 0.

    Capabilities that an agent has from the start take part, and count only where one is expected, as in `octoc test`.

    Args:
        vectors: text -> vector; None judges by words.
    """
    found: dict[str, Judged] = {}
    for fixture, intent in _alone(build):
        registry = build.scoped.registries.get(fixture.agent)
        if registry is None:
            continue
        names = sorted({*registry.capabilities, *registry.boot})
        probabilities, _ = classifier.probabilities(intent, None if vectors is None else vectors[intent], names)
        best = list(probabilities.items())[:most]
        judged = ((score, name in fixture.expect, name in registry.boot) for name, score in best)
        key = sha256_hex(f"{fixture.agent} {intent} {fixture.expect}".encode())
        found[key] = tuple((score, right) for score, right, boot in judged if right or not boot)
    # By digest, so that neighbours in a file, which are alike, fall into different fifths.
    return tuple(found[key] for key in sorted(found))


def choose(judged: Sequence[Judged], precision: float, eager: float, cautious: float) -> Chosen | None:
    """Return the lowest threshold that is as precise as asked, by all fixtures and by each four fifths of them.

    None when they are too few: with less than `FEWEST` activations at `eager`. Where no threshold with so many is as
    precise, it is `cautious`. As the highest of what the parts choose, it does not hang on a few lucky fixtures.
    """
    if _at(judged, eager)[1] < FEWEST:
        return None
    folds = [judged[number::FOLDS] for number in range(FOLDS)]
    rest = [[one for number, one in enumerate(judged) if number % FOLDS != left] for left in range(FOLDS)]
    share = (FOLDS - 1) / FOLDS
    by_rest = [_lowest(others, precision, eager, FEWEST * share) for others in rest]
    found = [_lowest(judged, precision, eager, FEWEST), *by_rest]
    reached = [each for each in found if each is not None]
    threshold = max(reached) if len(reached) == len(found) else cautious
    right, activated = _at(judged, threshold)
    held = [_at(fold, cautious if by is None else by) for fold, by in zip(folds, by_rest, strict=True)]
    return Chosen(
        threshold=threshold,
        messages=len(judged),
        right=right,
        activated=activated,
        held_right=sum(right for right, _ in held),
        held_activated=sum(activated for _, activated in held),
        reached=right >= precision * activated > 0,
    )


def _lowest(judged: Sequence[Judged], precision: float, eager: float, fewest: float) -> float | None:
    for step in range(round((HIGHEST - eager) / STEP) + 1):
        threshold = round(eager + step * STEP, 4)
        right, activated = _at(judged, threshold)
        if activated < fewest:
            return None
        if right >= precision * activated:
            return threshold
    return None


def _at(judged: Iterable[Judged], threshold: float) -> tuple[int, int]:
    """Return how many activations are right at a threshold, and how many there are."""
    outcomes = [right for one in judged for score, right in one if score >= threshold]
    return sum(outcomes), len(outcomes)
