"""The examples that a message is held against when it runs: see `octoc.routing.nearby`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from octoc.compiler.calibrate.space import space_of
from octoc.compiler.calibrate.texts import COUNTER_WEIGHT, DESCRIPTION_WEIGHT, MISS_WEIGHT, Example
from octoc.routing.nearby import Space, stems

Names = dict[str, tuple[float, list[int]]]


def nearby(
    found: Sequence[Example], classes: Sequence[str], vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]]:
    """Return `data["nearby"]` and the arrays beside it, as `octoc.routing.classifier.Classifier.of` reads them.

    Examples of a capability are its triggers and the messages of needs that it meets; those of the background are what
    is for nobody anywhere. Of needs that only this workspace does not meet there is one vector each, their middle.
    """
    said = [example for example in found if example.weight != COUNTER_WEIGHT]
    by_class: dict[str, list[str]] = {name: [] for name in classes}
    background: list[str] = []
    missed: dict[str, list[str]] = {}
    for example in said:
        if example.capability is not None:
            if not _describes(example):
                by_class[example.capability].append(example.text)
        elif example.weight == MISS_WEIGHT:
            missed.setdefault(example.need or example.text, []).append(example.text)
        else:
            background.append(example.text)
    rows: list[str] = []
    starts: list[int] = []
    for texts in (*by_class.values(), background):
        starts.append(len(rows))
        rows += dict.fromkeys(texts)
    starts.append(len(rows))
    space = space_of(said, vectors)
    # One thread: two may add up in another order.
    with threadpool_limits(limits=1, user_api="blas"):
        turned = _turned(rows, space, vectors)
        middles = [_turned(texts, space, vectors).mean(axis=0) for _, texts in sorted(missed.items())]
    stacked = np.stack([*turned, *(middle / (np.linalg.norm(middle) or np.float32(1)) for middle in middles)])
    names = _names(said, classes)
    arrays: dict[str, NDArray[np.generic]] = {"examples": stacked.astype(np.float16)}
    if space is not None:
        arrays |= {"space_mean": space.mean, "space": space.axes.astype(np.float16)}
    return {"starts": starts, "names": names, "says": _says(said, classes, names)}, arrays


def _turned(
    texts: Sequence[str], space: Space | None, vectors: Mapping[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    found = np.stack([vectors[text] for text in texts]).astype(np.float32)
    return found if space is None else space.turned(found)


def _describes(example: Example) -> bool:
    return example.own and example.weight == DESCRIPTION_WEIGHT


def _names(said: Sequence[Example], classes: Sequence[str]) -> Names:
    """Return the beginnings of words in the classes' own texts -> how rare each is, and the numbers of those classes.

    It is as rare as it is among capabilities, or among all examples where it is more frequent there.
    """
    frequency: Counter[str] = Counter()
    own: dict[str, set[int]] = {}
    number = {name: place for place, name in enumerate(classes)}
    for example in said:
        found = stems(example.text)
        frequency.update(found)
        if example.own and example.capability is not None:
            for stem in found:
                own.setdefault(stem, set()).add(number[example.capability])
    return {
        stem: (
            round(min(math.log(len(classes) / len(places)), math.log((len(said) + 1) / (frequency[stem] + 1))), 4),
            sorted(places),
        )
        for stem, places in sorted(own.items())
    }


def _says(said: Sequence[Example], classes: Sequence[str], names: Names) -> list[list[list[int]]]:
    """Return per class its own texts but descriptions, each as the places of its words' beginnings in `names`."""
    places = {stem: place for place, stem in enumerate(sorted(names))}
    found: dict[str, dict[tuple[int, ...], None]] = {name: {} for name in classes}
    for example in said:
        if example.own and example.capability is not None and not _describes(example):
            found[example.capability][tuple(sorted(places[stem] for stem in stems(example.text)))] = None
    return [[list(trigger) for trigger in triggers] for triggers in found.values()]
