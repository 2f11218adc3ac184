"""A rule over triggers of different capabilities that have nearly the same words.

`octoc check` has no encoder, so the rule compares words and not meanings; `unreachable-capability` asks the gate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import NEAR_EQUAL_TRIGGERS
from octoc.plugin.lint import lint_check

SIMILARITY = Fraction(3, 4)
"""Minimum Jaccard similarity of the words of two nearly equal triggers.

Set by hand on the 541 triggers of Octomind's public tap: see the page of the rule.
"""

_WORD = re.compile(r"[^\W_]+")
# Not `us`: two capabilities may differ by `US` and `UK` alone.
_STOP_WORDS = frozenset(
    re.split(
        r"\s+",
        """a an and are as at be by can do for from get give i in into is it its me my of on or our please so some
that the their them these this those to up use using via want we what with you your""",
    )
)


@attrs.frozen(kw_only=True)
class _Trigger:
    capability: Capability
    located: Located[str]
    words: frozenset[str]


@lint_check(NEAR_EQUAL_TRIGGERS)
def check_near_triggers(build: Build, sink: DiagnosticSink) -> None:
    """Report capabilities with nearly equal triggers, a pair once, at the most similar ones."""
    by_names: dict[tuple[str, str], list[tuple[float, _Trigger, _Trigger]]] = {}
    for similarity, one, other in _similar(_triggers(build)):
        by_names.setdefault((one.capability.name, other.capability.name), []).append((similarity, one, other))
    for (first, second), pairs in by_names.items():
        _, one, other = max(pairs, key=lambda pair: pair[0])
        more = [
            f"also `{a.located.value}` and `{b.located.value}`" for _, a, b in pairs if a is not one or b is not other
        ]
        sink.report(
            NEAR_EQUAL_TRIGGERS,
            f"trigger `{other.located.value}` of capability `{second}` is nearly `{one.located.value}` of `{first}`",
            at=other.located.place,
            related={f"the trigger of `{first}`": one.located.place},
            notes=tuple(more[:SHOWN]),
            help="reword one of them, or leave it to one capability: a message like these activates neither",
        )


def words_of(trigger: str) -> frozenset[str]:
    """Return the words of a trigger to compare, in lower case, without a plural's `s` and without stop words."""
    return frozenset(map(_compared, _WORD.findall(trigger.lower()))) - {""}


@lru_cache(maxsize=65_536)
def _compared(word: str) -> str:
    """Return a word as it is compared; nothing of a stop word."""
    if word in _STOP_WORDS:
        return ""
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


def _triggers(build: Build) -> list[_Trigger]:
    return [
        _Trigger(capability=capability, located=trigger, words=words_of(trigger.value))
        for capability in build.resolved.capabilities
        for trigger in capability.triggers
    ]


def _similar(triggers: list[_Trigger]) -> Iterator[tuple[float, _Trigger, _Trigger]]:
    """Yield each trigger with the most similar earlier one that it competes with, if that has `SIMILARITY`.

    A hundred capabilities with one trigger are 99 findings, not one for each of the 4,950 pairs.
    """
    with_words: dict[frozenset[str], list[int]] = {}
    for number, trigger in enumerate(triggers):
        with_words.setdefault(trigger.words, []).append(number)
    near = near_sets(with_words)
    for number, trigger in enumerate(triggers):
        best: tuple[float, int] | None = None
        for similarity, words in near.get(trigger.words, ()):
            for earlier in with_words[words]:
                if earlier >= number or (best is not None and (similarity, -earlier) <= best):
                    break
                other = triggers[earlier].capability
                if other is not trigger.capability and _compete(other, trigger.capability):
                    best = (similarity, -earlier)
                    break
        if best is not None:
            yield best[0], triggers[-best[1]], trigger


def near_sets(sets: Iterable[frozenset[str]]) -> dict[frozenset[str], list[tuple[float, frozenset[str]]]]:
    """Return each set of words with all that have at least `SIMILARITY` with it, itself among them.

    Two such sets share one of the rare words of a prefix, so an index of these limits what is compared (Xiao et al.,
    "Efficient similarity joins for near duplicate detection", 2008).
    """
    shared_of, all_of = SIMILARITY.as_integer_ratio()  # whole numbers, because `Fraction` takes ten times as long
    near = {words: [(1.0, words)] for words in sets if words}
    frequency = Counter(word for words in near for word in words)
    rarity = {word: rank for rank, word in enumerate(sorted(frequency, key=lambda word: (frequency[word], word)))}
    index: dict[str, list[frozenset[str]]] = {}
    # The shorter of two sets comes first, so that fewer of its words need to be in the index.
    for words in sorted(near, key=len):
        rare_first = sorted(words, key=rarity.__getitem__)
        size = len(words)
        probed = rare_first[: size - _ceil(shared_of * size, all_of) + 1]
        for other in dict.fromkeys(other for word in probed for other in index.get(word, ())):
            if len(other) * all_of < size * shared_of:
                continue
            shared = len(words & other)
            either = size + len(other) - shared
            if shared * all_of >= either * shared_of:
                near[words].append((shared / either, other))
                near[other].append((shared / either, words))
        for word in rare_first[: size - _ceil(2 * shared_of * size, all_of + shared_of) + 1]:
            index.setdefault(word, []).append(words)
    return near


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _compete(one: Capability, other: Capability) -> bool:
    return not one.domains or not other.domains or not set(one.domains).isdisjoint(other.domains)
