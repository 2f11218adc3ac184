"""A rule over triggers of different capabilities that have nearly the same words.

`octoc check` has no encoder, so the rule compares words and not meanings; `unreachable-capability` asks the gate.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import NEAR_EQUAL_TRIGGERS
from octoc.plugin.lint import lint_check

SIMILARITY = 0.75
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
    """Report each pair of capabilities with nearly equal triggers, at the most similar ones."""
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
    words = (word for word in _WORD.findall(trigger.lower()) if word not in _STOP_WORDS)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word for word in words)


def _triggers(build: Build) -> list[_Trigger]:
    return [
        _Trigger(capability=capability, located=trigger, words=words_of(trigger.value))
        for capability in build.resolved.capabilities
        for trigger in capability.triggers
    ]


def _similar(triggers: list[_Trigger]) -> Iterator[tuple[float, _Trigger, _Trigger]]:
    """Yield each pair of at least `SIMILARITY`. An index of rare words limits the pairs to compare."""
    frequency = Counter(word for trigger in triggers for word in trigger.words)
    index: dict[str, list[int]] = {}
    for number, trigger in enumerate(triggers):
        # Two sets of at least `SIMILARITY` share one of the rare words of this prefix.
        ordered = sorted(trigger.words, key=lambda word: (frequency[word], word))
        prefix = ordered[: len(ordered) - math.ceil(SIMILARITY * len(ordered)) + 1]
        seen = dict.fromkeys(earlier for word in prefix for earlier in index.get(word, ()))
        for word in prefix:
            index.setdefault(word, []).append(number)
        for earlier in sorted(seen):
            other = triggers[earlier]
            if other.capability is not trigger.capability and _compete(other.capability, trigger.capability):
                similarity = len(other.words & trigger.words) / len(other.words | trigger.words)
                if similarity >= SIMILARITY:
                    yield similarity, other, trigger


def _compete(one: Capability, other: Capability) -> bool:
    return not one.domains or not other.domains or not set(one.domains).isdisjoint(other.domains)
