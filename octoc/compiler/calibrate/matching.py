"""Match the needs of the library with capabilities. It loads numpy, so it is imported only for training."""

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
"""Penalty and sharpness of the two ridge regressions: one classifies texts by need, the other by capability."""

TRIGGERS_SHARE = 0.6
"""Share of a capability's triggers in its score; title and description have the rest."""

OWNED = 0.4
MUTUAL = 0.06
LEAD = 1.5
"""A capability meets a need at a nearness of `OWNED`, or of `MUTUAL` if no other need is nearer to the capability.
In both cases it must be `LEAD` times as near as the next capability."""

MISSED = 0.1
"""No capability meets a need if all are less near than this; the messages of the need are near misses."""

LIKENESS = 20.0
"""Sharpness of the likeness of two texts: its exponent is this times their cosine."""

HARMLESS = -0.35
"""A need helps a capability if its messages lower the mean log-likelihood of the capability's triggers, each left out,
by less than this."""

HELPED = 0.5
"""The library is used if its needs help this share of the capabilities: with fewer, those with a need win too often.
Both constants were chosen on the sample tap and taps of three other fields: needs help .84 of the sample tap's
capabilities, and .06 to .31 of those of a field (`benchmarks/routing_thresholds.py`). Each `HARMLESS` from -0.5 to
-0.2 with each `HELPED` from 0.35 to 0.65 decides the four taps alike.

Keeping or leaving out each need by itself is worse: on the sample tap 266 of 418 messages are right without the needs
that do not help, and 289 with all; of a hospital's 110 messages 23 are right with only the needs that help, and 34
without any."""

_TINY = 1e-12

Vectors = Mapping[str, NDArray[np.float32]]


@attrs.frozen
class Match:
    """A need and the capability that meets it, or None if none does. An undecided need has no match."""

    need: Need
    capability: str | None


def match(capabilities: Sequence[Capability], needs: Sequence[Need], vectors: Vectors) -> tuple[Match, ...]:
    """Return the needs that a capability meets, and those that none meets, in the order of the needs."""
    classes = [capability for capability in capabilities if capability.triggers]
    if not needs or not classes:
        return ()
    # One thread, since several can add numbers in another order, and waiting takes longer than these products.
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


def gains(capabilities: Sequence[Capability], matches: Sequence[Match], vectors: Vectors) -> dict[str, float]:
    """Return for each need that a capability meets how much it raises the likelihood of the capability's triggers.

    The gain is the change of the mean log-likelihood. Each trigger is left out in turn, and is likely if it is nearer
    to its own capability's texts than to others'.
    """
    classes = [capability for capability in capabilities if capability.triggers]
    place = {capability.name: number for number, capability in enumerate(classes)}
    says = [own_texts(capability)[0] for capability in classes]
    counts = np.array([len(texts) for texts in says])
    owner = np.repeat(np.arange(len(classes)), counts)
    triggers = np.stack([vectors[text] for texts in says for text in texts])
    with threadpool_limits(limits=1, user_api="blas"):
        alike = np.exp(LIKENESS * (triggers @ triggers.T).astype(np.float64))
        np.fill_diagonal(alike, 0.0)
        sums = np.add.reduceat(alike, np.cumsum(counts) - counts, axis=1)
        others = counts - (owner[:, None] == np.arange(len(classes)))
        means = sums / np.maximum(others, 1)
        gained: dict[str, float] = {}
        for found in matches:
            if found.capability is None:
                continue
            column = place[found.capability]
            own = owner == column
            messages = np.stack([vectors[text] for text in found.need.says])
            added = np.exp(LIKENESS * (triggers[own] @ messages.T).astype(np.float64)).sum(axis=1)
            before, total = means[own, column], means[own].sum(axis=1)
            after = (sums[own, column] + added) / (others[own, column] + len(messages))
            gain = np.log((after + _TINY) / (total - before + after + _TINY))
            gain -= np.log((before + _TINY) / (total + _TINY))
            gained[found.need.name] = float(gain.mean())
    return gained


def helpful(capabilities: Sequence[Capability], matches: Sequence[Match], gained: Mapping[str, float]) -> bool:
    """Return whether the needs help enough of the capabilities, by the `gains` of the needs."""
    classes = sum(bool(capability.triggers) for capability in capabilities)
    helped = {found.capability for found in matches if gained.get(found.need.name, HARMLESS - 1) >= HARMLESS}
    return len(helped) >= HELPED * classes


def nearness(classes: Sequence[Capability], needs: Sequence[Need], vectors: Vectors) -> NDArray[np.float64]:
    """Return the nearness of each capability and each need, 0 to 1: shape (capabilities, needs).

    It is the geometric mean of the share of the capability's texts classified as the need, and of the share of the
    need's texts classified as the capability.
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
    """Return a function from texts to their mean probabilities of the groups: shape (groups,), with sum 1."""
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
    """Yield the messages of each need for the capability that meets it, or for the background if none does.

    After them come more examples of the background.
    """
    for found in matches:
        weight = MISS_WEIGHT if found.capability is None else LIBRARY_WEIGHT
        yield from (Example(text, found.capability, weight, need=found.need.name) for text in found.need.says)
    yield from further_background()
