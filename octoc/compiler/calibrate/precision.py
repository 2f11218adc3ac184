"""A threshold for a stated precision, chosen on the workspace's fixtures. Loads numpy when there are some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.digest import sha256_hex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octoc.compiler.model.build import Build
    from octoc.routing.classifier import Classifier
    from octoc.routing.fixtures import RoutingFixture

FEWEST = 20
"""Minimum number of activations to choose a threshold: a share of fewer is not significant."""

FOLDS = 5
HIGHEST = 0.9
STEP = 0.005
"""Thresholds from the eager profile's to `HIGHEST`, `STEP` apart, are tried."""

Judged = tuple[tuple[float, bool], ...]
"""The candidates of one message, best first: score, and whether the fixture expects it."""


@attrs.frozen(kw_only=True)
class ChosenThreshold:
    """A threshold and its precision.

    Args:
        messages: number of fixtures.
        right, activated: numbers of right activations and of all activations, on all fixtures.
        held_right, held_activated: the same on each fifth, at the threshold that the other four chose.
        reached: whether it has the requested precision; otherwise it is the cautious profile's threshold.
    """

    threshold: float
    messages: int
    right: int
    activated: int
    held_right: int
    held_activated: int
    reached: bool


def fixture_intents(build: Build) -> tuple[str, ...]:
    """Return the intents of the fixtures to score if the workspace states a precision."""
    return tuple(dict.fromkeys(intent for _, intent in _alone(build)))


def _alone(build: Build) -> Iterator[tuple[RoutingFixture, str]]:
    """Yield each fixture without an earlier message, with its intent: a follow-up depends on the earlier message."""
    if build.settings.routing.precision is None:
        return
    from octoc.routing.clean import clean_intent, is_routable  # compiles many patterns, which a check never needs

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
    """Return the candidates of each fixture at a threshold of 0.

    Capabilities that an agent has from the start compete, and count only if the fixture expects them, as in
    `octoc test`.

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
    # Sorted by digest, so that similar neighbours in a file fall into different fifths.
    return tuple(found[key] for key in sorted(found))


def choose(judged: Sequence[Judged], precision: float, eager: float, cautious: float) -> ChosenThreshold | None:
    """Return the lowest threshold with the requested precision on all fixtures and on each four fifths of them.

    It is the highest of the thresholds of these parts, so that it does not depend on a few lucky fixtures. Without
    such a threshold it is `cautious`. Returns None with less than `FEWEST` activations at `eager`.
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
    return ChosenThreshold(
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
    """Return the number of right activations at a threshold, and of all activations."""
    outcomes = [right for one in judged for score, right in one if score >= threshold]
    return sum(outcomes), len(outcomes)
