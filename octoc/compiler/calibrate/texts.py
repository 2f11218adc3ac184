"""The texts that routing is calibrated on: which there are, what each is an example of, and how much it weighs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import attrs

from octoc.compiler.model.resolved import Capability

TRIGGER_WEIGHT = 1.0
DESCRIPTION_WEIGHT = 0.3
BACKGROUND_WEIGHT = 0.3
COUNTER_WEIGHT = 0.1

_WORD = re.compile(r"[^\W_]+")


@attrs.frozen
class Example:
    """One training text: the capability it speaks for, None for the background, and its weight (1.0 a trigger's)."""

    text: str
    capability: str | None
    weight: float


def examples(capabilities: Sequence[Capability]) -> tuple[Example, ...]:
    """Return every training text: of each capability with triggers, in order, and then of the background.

    A capability without triggers is no class, so nothing of it is here.
    """
    classes = [capability for capability in capabilities if capability.triggers]
    return (*_own(classes), *_background(classes))


def _own(classes: Sequence[Capability]) -> Iterator[Example]:
    for capability in classes:
        triggers = dict.fromkeys(trigger.value for trigger in capability.triggers)
        yield from (Example(text, capability.name, TRIGGER_WEIGHT) for text in triggers)
        described = dict.fromkeys([" ".join(_words(capability.name)), capability.title, capability.description])
        yield from (Example(text, capability.name, DESCRIPTION_WEIGHT) for text in described if text.strip())


def _background(classes: Sequence[Capability]) -> Iterator[Example]:
    yield from (Example(text, None, BACKGROUND_WEIGHT) for text in background_lines())
    # A trigger that two capabilities share is shortened by a word of each; what is left may be the same.
    yield from (Example(text, None, COUNTER_WEIGHT) for text in dict.fromkeys(counter_triggers(classes)))


@cache
def background_lines() -> tuple[str, ...]:
    """Return the texts that ship with octoc as examples of what no capability should answer."""
    text = Path(__file__).parents[1].joinpath("background.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def counter_triggers(classes: Sequence[Capability]) -> Iterator[str]:
    """Yield each trigger without its most capability-specific word: a message that names no capability any more.

    The word is the one with the highest count in the capability's own texts times its inverse document frequency over
    capabilities; of several the first. A trigger of one word yields nothing.
    """
    counts = [Counter(_words(" ".join(example.text for example in _own([capability])))) for capability in classes]
    known_to = Counter(word for count in counts for word in count)
    for capability, count in zip(classes, counts, strict=True):
        for trigger in capability.triggers:
            shortened = _without(
                trigger.value,
                max(
                    _words(trigger.value),
                    key=lambda word: count[word] * math.log((1 + len(classes)) / known_to[word]),
                    default="",
                ),
            )
            if shortened:
                yield shortened


def _without(text: str, word: str) -> str:
    """Return `text` without every occurrence of `word`, in any case; "" when no word is left."""
    left = " ".join(_WORD.sub(lambda found: "" if found.group().lower() == word else found.group(), text).split())
    return left if _WORD.search(left) else ""


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def distinct_texts(found: Iterable[Example]) -> tuple[str, ...]:
    """Return each text once, in the order in which it first stands."""
    return tuple(dict.fromkeys(example.text for example in found))
