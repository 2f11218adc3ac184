"""The examples that a message is compared with at run time: see `octoc.routing.rerank`."""

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
from octoc.routing.rerank import Space, stems

Names = dict[str, tuple[float, list[int]]]


def nearby(
    found: Sequence[Example], classes: Sequence[str], vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]]:
    """Return `data["nearby"]` and the arrays beside it, as `octoc.routing.classifier.Classifier.of` reads them.

    Examples of a capability are its triggers and the messages of needs that it meets. Examples of the background are
    messages for no capability at all. A need that no capability of this workspace meets has one vector, the mean.
    """
    used = [example for example in found if example.weight != COUNTER_WEIGHT]
    by_class: dict[str, list[str]] = {name: [] for name in classes}
    background: list[str] = []
    missed: dict[str, list[str]] = {}
    for example in used:
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
    space = space_of(used, vectors)
    # One thread, since several can add numbers in another order.
    with threadpool_limits(limits=1, user_api="blas"):
        turned = _turned(rows, space, vectors)
        middles = [_turned(texts, space, vectors).mean(axis=0) for _, texts in sorted(missed.items())]
    stacked = np.stack([*turned, *(middle / (np.linalg.norm(middle) or np.float32(1)) for middle in middles)])
    names = _names(used, classes)
    arrays: dict[str, NDArray[np.generic]] = {"examples": stacked.astype(np.float16)}
    if space is not None:
        arrays |= {"space_mean": space.mean, "space": space.axes.astype(np.float16)}
    return {"starts": starts, "names": names, "says": _says(used, classes, names)}, arrays


def _turned(
    texts: Sequence[str], space: Space | None, vectors: Mapping[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    found = np.stack([vectors[text] for text in texts]).astype(np.float32)
    return found if space is None else space.turned(found)


def _describes(example: Example) -> bool:
    return example.own and example.weight == DESCRIPTION_WEIGHT


def _names(used: Sequence[Example], classes: Sequence[str]) -> Names:
    """Return stem of a word in the classes' own texts -> its rarity, and the numbers of the classes.

    The rarity is an inverse document frequency: the lower one of that among capabilities and that among all examples.
    """
    frequency: Counter[str] = Counter()
    own: dict[str, set[int]] = {}
    number = {name: place for place, name in enumerate(classes)}
    for example in used:
        of_text = stems(example.text)
        frequency.update(of_text)
        if example.own and example.capability is not None:
            for stem in of_text:
                own.setdefault(stem, set()).add(number[example.capability])
    return {
        stem: (
            round(min(math.log(len(classes) / len(places)), math.log((len(used) + 1) / (frequency[stem] + 1))), 4),
            sorted(places),
        )
        for stem, places in sorted(own.items())
    }


def _says(used: Sequence[Example], classes: Sequence[str], names: Names) -> list[list[list[int]]]:
    """Return for each class its own texts without descriptions, each as the places of its stems in `names`."""
    places = {stem: place for place, stem in enumerate(sorted(names))}
    by_class: dict[str, dict[tuple[int, ...], None]] = {name: {} for name in classes}
    for example in used:
        if example.own and example.capability is not None and not _describes(example):
            by_class[example.capability][tuple(sorted(places[stem] for stem in stems(example.text)))] = None
    return [[list(trigger) for trigger in triggers] for triggers in by_class.values()]
