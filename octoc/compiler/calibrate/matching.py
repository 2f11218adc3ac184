"""Which needs of the library each capability meets. Imported only when a gate has to be learned: it loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from octoc.compiler.calibrate.needs.library import Need
from octoc.compiler.calibrate.regress import ridge
from octoc.compiler.calibrate.texts import LIBRARY_WEIGHT, MISS_WEIGHT, Example, further_background, own_texts
from octoc.compiler.model.resolved import Capability

NEEDS_FIT = (1.0, 60.0)
CAPABILITIES_FIT = (0.5, 20.0)
"""Penalty and sharpness of the ridge regressions that know the needs apart, and the capabilities: what one of the other
kind says is for it, or is spread over many."""

TRIGGERS_SHARE = 0.6
"""How much of a capability's mass its triggers have; title and description have the rest."""

OWNED = 0.4
MUTUAL = 0.06
LEAD = 1.5
"""A need is met by the capability that is `OWNED` near to it, or `MUTUAL` where no other need is nearer to the
capability, and in both cases `LEAD` times as near as the next one."""

MISSED = 0.1
"""A need to which no capability is so near is met by none: its messages are near misses."""

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
    # One thread: two may add up in another order, and wait for each other longer than these products take.
    with threadpool_limits(limits=1, user_api="blas"):
        masses = nearness(classes, needs, vectors)
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


def nearness(classes: Sequence[Capability], needs: Sequence[Need], vectors: Vectors) -> NDArray[np.float64]:
    """Return how near each capability and each need are, 0 to 1: shape (capabilities, needs).

    The geometric mean of how much of what the capability says is for the need, and of what the need says for it.
    """
    own = [own_texts(capability) for capability in classes]
    to_need = _shares([(*need.says, *need.described) for need in needs], vectors, NEEDS_FIT)
    to_capability = _shares([(*triggers, *described) for triggers, described in own], vectors, CAPABILITIES_FIT)
    there = np.stack(
        [
            TRIGGERS_SHARE * to_need(triggers) + (1 - TRIGGERS_SHARE) * to_need(described or triggers)
            for triggers, described in own
        ]
    )
    back = np.stack([to_capability((*need.says, *need.described)) for need in needs], axis=1)
    near: NDArray[np.float64] = np.sqrt(there * back)
    return near


def _shares(
    groups: Sequence[Sequence[str]], vectors: Vectors, how: tuple[float, float]
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Return what tells for texts which group each is like, on average: shape (groups,), its sum 1."""
    penalty, sharpness = how
    features = np.stack([vectors[text] for group in groups for text in group]).astype(np.float32)
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    rows, bias = ridge(features, labels, np.ones(len(labels)), len(groups), penalty)

    def shares(found: Sequence[str]) -> NDArray[np.float64]:
        logits = (np.stack([vectors[text] for text in found]).astype(np.float64) @ rows.T + bias) * sharpness
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        averaged: NDArray[np.float64] = (shifted / shifted.sum(axis=1, keepdims=True)).mean(axis=0)
        return averaged

    return shares


def library_examples(matches: Sequence[Match]) -> Iterator[Example]:
    """Yield the messages of needs that are met, for the capability, and of those that none meets, for the background.

    More examples of the background come with them.
    """
    for found in matches:
        weight = MISS_WEIGHT if found.capability is None else LIBRARY_WEIGHT
        yield from (Example(text, found.capability, weight, need=found.need.name) for text in found.need.says)
    yield from further_background()
