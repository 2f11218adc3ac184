"""The training texts of routing, with their classes and weights."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import attrs

from octoc.compiler.model.resolved import Capability

TRIGGER_WEIGHT = 1.0
DESCRIPTION_WEIGHT = 0.3
BACKGROUND_WEIGHT = 0.3
COUNTER_WEIGHT = 0.1
LIBRARY_WEIGHT = 0.6
MISS_WEIGHT = 0.05
OTHER_SENSE_WEIGHT = 0.5
UNDERSPECIFIED_WEIGHT = 0.3
CLOSING_WEIGHT = 0.2

_WORD = re.compile(r"[^\W_]+")


@attrs.frozen
class Example:
    """One training text.

    Args:
        capability: its class; None is the background.
        weight: 1.0 for a trigger.
        own: whether it is a text of the workspace; the vocabulary consists of such texts.
        need: the need that it is a message of; "" without one.
    """

    text: str
    capability: str | None
    weight: float
    own: bool = False
    need: str = ""


def examples(capabilities: Sequence[Capability]) -> tuple[Example, ...]:
    """Return the training texts of each capability with triggers, in order, and then those of the background."""
    classes = [capability for capability in capabilities if capability.triggers]
    return (*_own(classes), *_background(classes))


def own_texts(capability: Capability) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a capability's triggers, and its descriptive texts: its name as words, title and description."""
    triggers = dict.fromkeys(trigger.value for trigger in capability.triggers)
    described = dict.fromkeys([" ".join(_words(capability.name)), capability.title, capability.description])
    return tuple(triggers), tuple(text for text in described if text.strip())


def _own(classes: Sequence[Capability]) -> Iterator[Example]:
    for capability in classes:
        triggers, described = own_texts(capability)
        yield from (Example(text, capability.name, TRIGGER_WEIGHT, own=True) for text in triggers)
        yield from (Example(text, capability.name, DESCRIPTION_WEIGHT, own=True) for text in described)


def _background(classes: Sequence[Capability]) -> Iterator[Example]:
    yield from (Example(text, None, BACKGROUND_WEIGHT) for text in background_lines())
    # Shortening triggers of two capabilities can give the same text.
    yield from (Example(text, None, COUNTER_WEIGHT) for text in dict.fromkeys(counter_triggers(classes)))


@cache
def background_lines() -> tuple[str, ...]:
    """Return the texts that ship with octoc as examples for no capability."""
    return _lines("background.txt")


@cache
def further_background() -> tuple[Example, ...]:
    """Return more examples for no capability, for training with the library of needs.

    They are words in another sense, requests without their purpose, and remarks after a request.
    """
    weights = (
        ("other_senses.txt", OTHER_SENSE_WEIGHT),
        ("underspecified.txt", UNDERSPECIFIED_WEIGHT),
        ("no_follow_ups.txt", CLOSING_WEIGHT),
    )
    return tuple(Example(text, None, weight) for name, weight in weights for text in _lines(name))


@cache
def follow_up_lines() -> Mapping[str, bool]:
    """Return text that ships with octoc -> whether it follows up an earlier message."""
    return {
        **dict.fromkeys((*_lines("no_follow_ups.txt"), *background_lines()), False),
        **dict.fromkeys(_lines("follow_ups.txt"), True),
    }


@cache
def chat_lines() -> tuple[str, ...]:
    """Return the shipped texts that ask for nothing: chat, and words in another sense."""
    return (*_lines("chat.txt"), *_lines("other_senses.txt"))


def _lines(name: str) -> tuple[str, ...]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def counter_triggers(classes: Sequence[Capability]) -> Iterator[str]:
    """Yield each trigger without its most capability-specific word, as a message for no capability.

    The word has the highest count in the capability's own texts times its inverse document frequency over
    capabilities; the first of several. A trigger of one word yields nothing.
    """
    counts = [Counter(_words(" ".join(example.text for example in _own([capability])))) for capability in classes]
    document_frequency = Counter(word for count in counts for word in count)
    for capability, count in zip(classes, counts, strict=True):
        for trigger in capability.triggers:
            shortened = _without(
                trigger.value,
                max(
                    _words(trigger.value),
                    key=lambda word: count[word] * math.log((1 + len(classes)) / document_frequency[word]),
                    default="",
                ),
            )
            if shortened:
                yield shortened


def _without(text: str, word: str) -> str:
    """Return `text` without any occurrence of `word`, ignoring case; "" if no other word remains."""
    left = " ".join(_WORD.sub(lambda found: "" if found.group().lower() == word else found.group(), text).split())
    return left if _WORD.search(left) else ""


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def distinct_texts(found: Iterable[Example]) -> tuple[str, ...]:
    """Return the texts without repeated ones, in order."""
    return tuple(dict.fromkeys(example.text for example in found))
