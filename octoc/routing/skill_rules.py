r"""A skill's activation rules: lines of checks. A skill activates when all checks of one of its lines hold.

    parse_rule("content(ads) match(\bRSA\b)")   # -> two checks, no problem

A line is `name(argument)` any number of times; parentheses nest, also after a backslash. Octomind ignores unknown
checks and text after an unclosed parenthesis; here each of these is a problem.
Source: Octomind's tap, skills, rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import attrs

from octoc.linear_regex import RegexError, compile_regex

CHECKS = ("match", "content", "semantic", "session", "file", "grep", "env", "bin", "workdir")
SEMANTIC_THRESHOLD = 0.45
"""The cosine that `semantic(phrase)` requires unless a number follows its last comma."""
SEMANTIC_MARGIN = 0.08
"""The required lead of the best skill that fires by `semantic` alone over the second."""

ProblemKind = Literal["unknown", "unclosed", "stray"]

_CHECK = re.compile(r"(?<![\w-])([A-Za-z_][\w-]*+)\(")


@attrs.frozen(kw_only=True)
class Check:
    """One check. Ranges are half open, in code points of the line.

    Args:
        argument: the text between its parentheses, trimmed.
        span: from its name to its closing parenthesis.
        argument_span: the range of `argument`.
    """

    name: str
    argument: str
    span: tuple[int, int]
    argument_span: tuple[int, int]

    @property
    def expression(self) -> tuple[str, tuple[int, int]] | None:
        """The regular expression of `match(…)` and `grep(…[, glob])` and its range; None for other checks."""
        if self.name == "match":
            return self.argument, self.argument_span
        if self.name != "grep":
            return None
        text = self.argument if self.glob is None else self.argument.rpartition(",")[0].rstrip()
        return text, (self.argument_span[0], self.argument_span[0] + len(text))

    @property
    def glob(self) -> str | None:
        """The glob over file names that follows the last comma of `grep(…)`, or None."""
        head, comma, tail = self.argument.rpartition(",")
        # `a{1,2}` has a comma too, and no glob has a closing brace without its opening one.
        is_split = self.name == "grep" and comma and head.strip() and tail.count("}") <= tail.count("{")
        return tail.strip() if is_split else None

    @property
    def phrase(self) -> str | None:
        """The phrase of `semantic(…)`, which the message must resemble; None for other checks, and without a phrase."""
        if self.name != "semantic":
            return None
        head, comma, tail = self.argument.rpartition(",")
        return (head.strip() if comma and _is_number(tail) else self.argument) or None

    @property
    def threshold(self) -> float | None:
        """The cosine that `semantic(…)` requires; None for other checks."""
        if self.name != "semantic":
            return None
        _, comma, tail = self.argument.rpartition(",")
        return float(tail) if comma and _is_number(tail) else SEMANTIC_THRESHOLD


@attrs.frozen(kw_only=True)
class RuleProblem:
    """A part of a line without effect: a check of an unknown `name`, an unclosed one, or text between checks."""

    kind: ProblemKind
    name: str
    span: tuple[int, int]


@attrs.frozen(kw_only=True)
class SkillRule:
    """One line. `checks` are the known ones, of which all must hold; a line without any never holds."""

    text: str
    checks: tuple[Check, ...] = ()
    problems: tuple[RuleProblem, ...] = ()


def parse_rule(text: str) -> SkillRule:
    """Return the checks of one line, and its parts without effect. Never fails."""
    checks: list[Check] = []
    problems: list[RuleProblem] = []
    at = 0
    while at < len(text):
        opened = _CHECK.search(text, at)
        _add_stray(text, at, len(text) if opened is None else opened.start(), problems)
        if opened is None:
            break
        name, start = opened[1], opened.start()
        end = _closing(text, opened.end())
        if end is None:
            problems.append(RuleProblem(kind="unclosed", name=name, span=(start, len(text))))
            break
        inner = text[opened.end() : end]
        first = opened.end() + len(inner) - len(inner.lstrip())
        argument = inner.strip()
        if name in CHECKS:
            span = (first, first + len(argument))
            checks.append(Check(name=name, argument=argument, span=(start, end + 1), argument_span=span))
        else:
            problems.append(RuleProblem(kind="unknown", name=name, span=(start, end + 1)))
        at = end + 1
    return SkillRule(text=text, checks=tuple(checks), problems=tuple(problems))


def phrases_of(rules: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct phrases of all `semantic(…)` checks in these lines, sorted: the order of their vectors."""
    checks = (check for line in rules for check in parse_rule(line).checks)
    return tuple(sorted({check.phrase for check in checks if check.phrase is not None}))


def expression_error(expression: str) -> str | None:
    """Return why google-re2, whose dialect these rules use, refuses `expression`; None if it accepts it."""
    try:
        compile_regex(expression)
    except RegexError as error:
        return str(error)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _closing(text: str, start: int) -> int | None:
    """Return the index of the parenthesis that closes the one before `start`."""
    depth = 1
    for index in range(start, len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    return None


def _add_stray(text: str, start: int, end: int, problems: list[RuleProblem]) -> None:
    part = text[start:end]
    stray = part.strip()
    if stray:
        first = start + len(part) - len(part.lstrip())
        problems.append(RuleProblem(kind="stray", name=stray, span=(first, first + len(stray))))
