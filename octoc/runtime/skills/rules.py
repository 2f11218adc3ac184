"""The rules of skills, parsed once, with the cheapest checks first."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.linear_regex import RegexError, compile_regex
from octoc.runtime.activation.encoder import EncoderUnavailableError, RoutingParts

if TYPE_CHECKING:
    from octoc.bundle.reader import OpenBundle
    from octoc.routing.skill_rules import Check

logger = logging.getLogger("octoc.runtime")

# The order in which the checks of one line run: the cheapest first.
_COST = ("session", "workdir", "content", "env", "match", "bin", "file", "grep", "semantic")


@attrs.frozen
class Line:
    """A line of a skill's rules, which holds if each of its checks does."""

    text: str
    checks: tuple[tuple[Check, Any], ...]
    """Each check with its compiled expression; None if the check does not have one, or google-re2 refuses it."""

    @property
    def is_semantic(self) -> bool:
        """Whether it needs the encoder."""
        return any(check.name == "semantic" for check, _ in self.checks)


class SkillRules:
    """The rules of one bundle's skills, parsed when a message first needs them."""

    def __init__(self, opened: OpenBundle, routing: RoutingParts) -> None:
        self._opened = opened
        self._routing = routing
        self._skills = {skill.name: skill for skill in opened.bundle.skills}
        self._lines: dict[str, tuple[Line, ...]] = {}
        self._rows: dict[str, int] | None = None

    def lines(self, skill: str) -> tuple[Line, ...]:
        """Return the lines of a skill that can hold, those without `semantic(…)` first."""
        if skill not in self._lines:
            rules = self._skills[skill].rules
            self._lines[skill] = tuple(sorted(map(_line, rules), key=lambda line: line.is_semantic))
        return self._lines[skill]

    def cosines(self, text: str) -> Mapping[str, float]:
        """Return the cosine between `text` and each phrase of the bundle; empty without an encoder."""
        from octoc.routing.scores import dots
        from octoc.routing.skill_rules import phrases_of

        opened = self._opened
        if not opened.has_array("skills/phrases"):
            return {}
        if self._rows is None:
            phrases = phrases_of(rule for entry in self._skills.values() for rule in entry.rules)
            self._rows = {phrase: row for row, phrase in enumerate(phrases)}
        vectors = opened.array("skills/phrases")
        try:
            vector = self._routing.vector(text)
        except EncoderUnavailableError as error:
            logger.debug("`semantic(…)` of skills never holds: %s", error)
            return {}
        if vectors.ndim != 2 or vectors.shape != (len(self._rows), len(vector)):
            return {}
        scores = dots(vectors, vector)
        return {phrase: float(scores[row]) for phrase, row in self._rows.items()}


def _line(text: str) -> Line:
    from octoc.routing.skill_rules import parse_rule

    checks = sorted(parse_rule(text).checks, key=lambda check: _COST.index(check.name))
    return Line(text, tuple((check, _prepared(check)) for check in checks))


def _prepared(check: Check) -> Any:
    if check.name == "content":
        # `\b` covers all scripts in Rust, Octomind's language, and in Python, but only ASCII in google-re2.
        return re.compile(rf"(?i)\b{re.escape(check.argument)}\b")
    if check.expression is None:
        return None
    try:
        return compile_regex(check.expression[0])
    except RegexError:
        return None
