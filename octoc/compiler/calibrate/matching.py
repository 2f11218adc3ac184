"""Which needs of the library each capability meets. Imported only when a gate has to be learned: it loads numpy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.compiler.calibrate.regress import ridge
from octoc.compiler.calibrate.texts import LIBRARY_WEIGHT, MISS_WEIGHT, Example, further_background, own_texts
from octoc.compiler.model.resolved import Capability
from octoc.compiler.needs import Need

PENALTY = 1.0
SHARPNESS = 30.0
"""Of the ridge regression that knows the needs apart, chosen so that a trigger's need has most of the mass."""

TRIGGERS_SHARE = 0.6
"""How much of a capability's mass its triggers have; title and description have the rest."""

OWNED = 0.2
MUTUAL = 0.06
LEAD = 2.0
"""A need is met by the capability that has `OWNED` mass in it, or `MUTUAL` where no other need has more of the
capability's, and in both cases `LEAD` times the mass of the next one."""

MISSED = 0.12
"""A need in which no capability has this mass is met by none: its messages are near misses."""

Vectors = Mapping[str, NDArray[np.float32]]


@attrs.frozen
class Match:
    """A need and the capability that meets it; None is met by none. A need in between has no match at all."""

    need: Need
    capability: str | None


def match(capabilities: Sequence[Capability], needs: Sequence[Need], vectors: Vectors) -> tuple[Match, ...]:
    """Return which needs the capabilities meet and which none of them does, in the order of the needs."""
    classes = [capability for capability in capabilities if capability.triggers]
    if not needs or not classes:
        return ()
    masses = mass(classes, needs, vectors)
    nearest = masses.argmax(axis=1)
    found: list[Match] = []
    for number, (need, column) in enumerate(zip(needs, masses.T, strict=True)):
        order = np.argsort(-column, kind="stable")
        best = float(column[order[0]])
        second = float(column[order[1]]) if len(order) > 1 else 0.0
        least = MUTUAL if nearest[order[0]] == number else OWNED
        if best >= least and best >= LEAD * second:
            found.append(Match(need, classes[order[0]].name))
        elif best < MISSED:
            found.append(Match(need, None))
    return tuple(found)


def mass(classes: Sequence[Capability], needs: Sequence[Need], vectors: Vectors) -> NDArray[np.float64]:
    """Return how far each capability is about each need, rows that sum to 1: shape (capabilities, needs)."""
    texts = [(text, number) for number, need in enumerate(needs) for text in (*need.says, *need.described)]
    features = np.stack([vectors[text] for text, _ in texts]).astype(np.float32)
    labels = np.array([number for _, number in texts])
    rows, bias = ridge(features, labels, np.ones(len(labels)), len(needs), PENALTY)

    def shares(found: Sequence[str]) -> NDArray[np.float64]:
        logits = (np.stack([vectors[text] for text in found]).astype(np.float64) @ rows.T + bias) * SHARPNESS
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        averaged: NDArray[np.float64] = (shifted / shifted.sum(axis=1, keepdims=True)).mean(axis=0)
        return averaged

    found = []
    for capability in classes:
        triggers, described = own_texts(capability)
        found.append(TRIGGERS_SHARE * shares(triggers) + (1 - TRIGGERS_SHARE) * shares(described))
    return np.stack(found)


def library_examples(matches: Sequence[Match]) -> Iterator[Example]:
    """Yield the messages of needs that are met, for the capability, and of those that none meets, for the background.

    More examples of the background come with them.
    """
    for found in matches:
        weight = MISS_WEIGHT if found.capability is None else LIBRARY_WEIGHT
        yield from (Example(text, found.capability, weight) for text in found.need.says)
    yield from further_background()
