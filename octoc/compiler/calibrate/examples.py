"""The examples that a message is held against when it runs: see `octoc.routing.nearby`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octoc.compiler.calibrate.texts import COUNTER_WEIGHT, DESCRIPTION_WEIGHT, MISS_WEIGHT, Example
from octoc.routing.nearby import stems


def nearby(
    found: Sequence[Example], classes: Sequence[str], vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[dict[str, Any], NDArray[np.float16]]:
    """Return `data["nearby"]` and the examples' vectors, as `octoc.routing.nearby.Nearby.of` reads them.

    Examples of a capability are its triggers and the messages of needs that it meets; those of the background are what
    is for nobody anywhere, without the messages of needs that only this workspace does not meet.
    """
    said = [example for example in found if example.weight != COUNTER_WEIGHT]
    by_class: dict[str, list[str]] = {name: [] for name in classes}
    background: list[str] = []
    for example in said:
        if example.capability is None:
            if example.weight != MISS_WEIGHT:
                background.append(example.text)
        elif not (example.own and example.weight == DESCRIPTION_WEIGHT):
            by_class[example.capability].append(example.text)
    rows: list[str] = []
    starts: list[int] = []
    for texts in (*by_class.values(), background):
        starts.append(len(rows))
        rows += dict.fromkeys(texts)
    stacked = np.stack([vectors[text] for text in rows]).astype(np.float16)
    return {"starts": starts, "names": _names(said, classes)}, stacked


def _names(said: Sequence[Example], classes: Sequence[str]) -> dict[str, tuple[float, list[int]]]:
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
