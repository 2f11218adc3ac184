"""Decide trigger evals of skills without a model: by rules where a skill has some, else by name and description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.evaluation.outcomes import MessageOutcome, Verdict
from octoc.linear_regex import RegexError, compile_regex
from octoc.routing.fixtures import RoutingFixture
from octoc.routing.skill_rules import Check, parse_rule

if TYPE_CHECKING:
    from octoc.plugin.protocols import Vector
    from octoc.search.index import Index
    from octoc.search.rank import Ranking

BY_DESCRIPTION = "names and descriptions"
_SHOWN = 3


@attrs.define(eq=False)
class SkillRouter:
    """Chooses between skills as a client does that sees their names and descriptions.

    Args:
        names: the skills of `index`, in its order.
        rules: skill with rules -> its lines; a skill is in one of the two.
        embed: encodes a text; None ranks by words alone.
    """

    names: Sequence[str]
    rules: Mapping[str, Sequence[str]]
    index: Index | None
    embed: Callable[[str], Vector] | None = None

    def outcome(self, fixture: RoutingFixture) -> MessageOutcome:
        """Return the skill that a query triggers, with the best candidates and their scores.

        A skill triggers if one of its rules holds, or if it is ranked first and fits. An eval of one skill that should
        not trigger allows every other one.
        """
        by_rule = [name for name, lines in self.rules.items() if any(self._holds(line, fixture.text) for line in lines)]
        ranking = self._ranking(fixture.text)
        scores = () if ranking is None else tuple((self.names[one.number], one.score) for one in ranking.matches)
        got = by_rule or ([scores[0][0]] if ranking is not None and ranking.fits else [])
        if fixture.agent in got:
            got = [fixture.agent]
        elif fixture.agent and not fixture.expect:
            got = []
        return MessageOutcome(
            fixture=fixture,
            got=tuple(got[:1]),
            reason="" if ranking is None else f"fit {ranking.fit:.2f} of {ranking.least:.2f}",
            scores=scores[:_SHOWN],
        )

    def _ranking(self, text: str) -> Ranking | None:
        if self.index is None:
            return None
        from octoc.search.rank import Query, rank

        return rank(Query.of(text, self.embed), (self.index,), None, self.names.__getitem__, len(self.names))

    def _holds(self, line: str, text: str) -> bool:
        """Return whether a line holds by the message alone; a check of files or the environment does not."""
        checks = parse_rule(line).checks
        return bool(checks) and all(self._check(check, text) for check in checks)

    def _check(self, check: Check, text: str) -> bool:
        if check.name == "content":
            return f" {check.argument.lower()} " in f" {' '.join(_words(text))} "
        if check.name == "match" and check.expression is not None:
            try:
                return compile_regex(check.expression[0]).search(text) is not None
            except RegexError:
                return False
        if check.phrase is None or check.threshold is None or self.embed is None:
            return False
        one, other = self.embed(text), self.embed(check.phrase)
        lengths = float((one @ one) * (other @ other)) ** 0.5
        return bool(lengths) and float(one @ other) / lengths >= check.threshold


@attrs.frozen(kw_only=True)
class Collision:
    """Two skills that claim the same queries: evals of `skill` that `other` takes, and one of them."""

    skill: str
    other: str
    count: int
    query: str


@attrs.frozen(kw_only=True)
class NearMiss:
    """An eval that should not trigger `skill` but does."""

    skill: str
    query: str
    outcome: MessageOutcome


@attrs.frozen
class SkillFigures:
    """What the outcomes of evals say of the skills."""

    outcomes: Sequence[MessageOutcome]

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """The pairs of skills, those with most evals first."""
        taken: dict[tuple[str, str], list[str]] = {}
        for one in self.outcomes:
            if one.verdict is Verdict.WRONG and one.fixture.expect:
                taken.setdefault((one.fixture.expect[0], one.got[0]), []).append(one.fixture.text)
        rows = [
            Collision(skill=skill, other=other, count=len(queries), query=queries[0])
            for (skill, other), queries in taken.items()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.count, row.skill, row.other)))

    @property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """The evals that trigger a skill which they should not, in the order of the evals."""
        return tuple(
            NearMiss(skill=one.got[0], query=one.fixture.text, outcome=one)
            for one in self.outcomes
            if one.got and not one.fixture.expect
        )

    def by_skill(self) -> list[tuple[str, int, int, int, int]]:
        """Return (skill, should trigger, of which do, should not, of which do not), by skill; "" for all of them."""
        counts: Counter[tuple[str, bool, bool]] = Counter()
        for one in self.outcomes:
            wanted = bool(one.fixture.expect)
            counts[_skill_of(one.fixture), wanted, one.verdict is Verdict.RIGHT] += 1
        skills = sorted({skill for skill, _, _ in counts})
        return [
            (
                skill,
                counts[skill, True, True] + counts[skill, True, False],
                counts[skill, True, True],
                counts[skill, False, True] + counts[skill, False, False],
                counts[skill, False, True],
            )
            for skill in skills
        ]


def _skill_of(fixture: RoutingFixture) -> str:
    return fixture.agent or "".join(fixture.expect)


def _words(text: str) -> Iterable[str]:
    return "".join(one if one.isalnum() or one in "-_" else " " for one in text.lower()).split()
