"""Which skills a message uses: their rules, line by line. What costs little is asked first, and only as needed.

A line with no `semantic(…)` that holds uses its skill at once, however many there are; of the skills that only a line
with `semantic(…)` speaks for, the best one is used when it is `SEMANTIC_MARGIN` before the second.
Source: Octomind, skill auto-activation.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.activation.route import EncoderUnavailable
from octoc.runtime.skills.workdir import Workdir

if TYPE_CHECKING:
    from octoc.bundle.model import SkillEntry
    from octoc.routing.skill_rules import Check
    from octoc.runtime.loaded_bundle import Generation
    from octoc.runtime.session import Session

logger = logging.getLogger("octoc.runtime")

MAX_TEXT_CHARS = 65_536
"""How much of a message `match(…)` and `content(…)` look at."""
# The order in which the checks of one line are asked.
_COST = ("session", "workdir", "content", "env", "match", "bin", "file", "grep", "semantic")


@attrs.frozen(kw_only=True)
class SkillMatch:
    """A skill that a message uses: the line of its rules that holds, and the cosine that it won by, if it did."""

    skill: str
    line: str
    score: float | None = None


@attrs.frozen
class _Line:
    text: str
    checks: tuple[tuple[Check, Any], ...]
    """Each check with its expression, ready to search; None where it has none, or RE2 refuses it."""

    @property
    def is_semantic(self) -> bool:
        return any(check.name == "semantic" for check, _ in self.checks)


class SkillRules:
    """The rules of one bundle's skills, parsed when a message first needs them."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._lines: dict[str, tuple[_Line, ...]] = {}
        self._rows: dict[str, int] | None = None

    def lines(self, skill: str) -> tuple[_Line, ...]:
        """Return the lines of a skill that can hold, those without `semantic(…)` first."""
        if skill not in self._lines:
            rules = self._generation.skills[skill].rules
            self._lines[skill] = tuple(sorted(map(_line, rules), key=lambda line: line.is_semantic))
        return self._lines[skill]

    def cosines(self, text: str) -> Mapping[str, float]:
        """Return how near each phrase of the bundle is to `text`; empty where there is no encoder to tell."""
        from octoc.routing.scores import dots
        from octoc.routing.skill_rules import phrases_of

        opened = self._generation.opened
        if not opened.has_array("skills/phrases"):
            return {}
        if self._rows is None:
            phrases = phrases_of(rule for entry in self._generation.bundle.skills for rule in entry.rules)
            self._rows = {phrase: row for row, phrase in enumerate(phrases)}
        vectors = opened.array("skills/phrases")
        try:
            vector = self._generation.routing.vector(text)
        except EncoderUnavailable as error:
            logger.debug("`semantic(…)` of skills never holds: %s", error)
            return {}
        if vectors.ndim != 2 or vectors.shape != (len(self._rows), len(vector)):
            return {}
        scores = dots(vectors, vector)
        return {phrase: float(scores[row]) for phrase, row in self._rows.items()}


def _line(text: str) -> _Line:
    from octoc.routing.skill_rules import parse_rule

    checks = sorted(parse_rule(text).checks, key=lambda check: _COST.index(check.name))
    return _Line(text, tuple((check, _prepared(check)) for check in checks))


def _prepared(check: Check) -> Any:
    if check.name == "content":
        # As Rust's `\b` does, Python's knows the letters of all scripts; RE2's knows those of ASCII.
        return re.compile(rf"(?i)\b{re.escape(check.argument)}\b")
    if check.expression is None:
        return None
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(check.expression[0], options)
    except re2.error:
        return None


def candidates_of(session: Session) -> tuple[str, ...]:
    """Return the skills that a message may use now: those of the agent that may fire, and are not used already."""
    skills = session.skillset
    return tuple(name for name in skills.names if name not in skills and may_fire(session, skills.entry(name)))


def may_fire(session: Session, entry: SkillEntry) -> bool:
    """Tell whether a message can use a skill: it has rules, and domains with the agent's among them if it has one."""
    domain = session.agent.domain
    return bool(entry.rules and entry.domains) and (domain is None or domain in entry.domains)


def matching(
    session: Session, text: str, *, workdir: str | None = None, seconds: float | None = None
) -> tuple[SkillMatch, ...]:
    """Return the skills whose rules a user's message meets; changes nothing. Takes as long as loading the encoder.

    Args:
        workdir: the folder that is looked at, instead of the session's own.
        seconds: how long the session's folder may be looked at, instead of `workdir.MAX_SECONDS`.
    """
    from octoc.routing.clean import clean_intent, is_routable, strip_xml_blocks
    from octoc.routing.skill_rules import SEMANTIC_MARGIN

    names = candidates_of(session)
    message = strip_xml_blocks(text).strip()
    if not names or not is_routable(message):
        return ()
    folder = workdir or session.caller.workdir
    asked = _Asked(session, message[:MAX_TEXT_CHARS], clean_intent(text), _looked_at(folder, seconds))
    certain: list[SkillMatch] = []
    likely: list[SkillMatch] = []
    for name in names:
        found = _match(name, session.generation.skill_rules.lines(name), asked)
        if found is not None:
            (certain if found.score is None else likely).append(found)
    if asked.workdir is not None and not asked.workdir.complete:
        logger.warning("not all of `%s` was looked at for the rules of skills", asked.workdir.root)
    likely.sort(key=lambda match: -(match.score or 0.0))
    second = (likely[1].score or 0.0) if len(likely) > 1 else 0.0
    if likely and (likely[0].score or 0.0) - second >= SEMANTIC_MARGIN:
        certain.append(likely[0])
    return tuple(certain)


def _looked_at(folder: str | None, seconds: float | None) -> Workdir | None:
    if folder is None:
        return None
    return Workdir(folder) if seconds is None else Workdir(folder, seconds=seconds)


def _match(skill: str, lines: Iterable[_Line], asked: _Asked) -> SkillMatch | None:
    best: SkillMatch | None = None
    for line in lines:
        if not line.checks or not all(asked.holds(check, prepared) for check, prepared in line.checks):
            continue
        if not line.is_semantic:
            return SkillMatch(skill=skill, line=line.text)
        score = max(asked.cosines[check.phrase] for check, _ in line.checks if check.phrase is not None)
        if best is None or score > (best.score or 0.0):
            best = SkillMatch(skill=skill, line=line.text, score=score)
    return best


class _Asked:
    """What one message is asked, each thing once."""

    def __init__(self, session: Session, message: str, intent: str, workdir: Workdir | None) -> None:
        self._session = session
        self._message = message
        self._intent = intent
        self._known: dict[tuple[str, str], bool] = {}
        self._cosines: Mapping[str, float] | None = None
        self.workdir = workdir

    @property
    def cosines(self) -> Mapping[str, float]:
        if self._cosines is None:
            from octoc.routing.clean import is_routable

            rules = self._session.generation.skill_rules
            self._cosines = rules.cosines(self._intent) if is_routable(self._intent) else {}
        return self._cosines

    def holds(self, check: Check, prepared: Any) -> bool:
        key = (check.name, check.argument)
        if key not in self._known:
            self._known[key] = bool(check.argument) and _CHECKS[check.name](self, check, prepared)
        return self._known[key]

    def text(self, check: Check, prepared: Any) -> bool:
        del check
        return prepared is not None and prepared.search(self._message) is not None

    def session_name(self, check: Check, prepared: Any) -> bool:
        del prepared
        return check.argument.lower() in (self._session.caller.session or "").lower()

    def workdir_path(self, check: Check, prepared: Any) -> bool:
        del prepared
        return self.workdir is not None and check.argument.lower() in self.workdir.root.lower()

    def file(self, check: Check, prepared: Any) -> bool:
        del prepared
        return self.workdir is not None and self.workdir.has(check.argument)

    def grep(self, check: Check, prepared: Any) -> bool:
        return self.workdir is not None and prepared is not None and self.workdir.contains(prepared, check.glob)

    def env(self, check: Check, prepared: Any) -> bool:
        del prepared
        name, equals, value = (part.strip() for part in check.argument.partition("="))
        found = self._session.runtime.lookup(name)
        return found == value if equals else bool(found)

    def bin(self, check: Check, prepared: Any) -> bool:
        del prepared
        name, path = check.argument, self._session.runtime.deps.environ.get("PATH")
        return "/" not in name and "\0" not in name and shutil.which(name, path=path or "") is not None

    def semantic(self, check: Check, prepared: Any) -> bool:
        del prepared
        cosine = None if check.phrase is None else self.cosines.get(check.phrase)
        return cosine is not None and check.threshold is not None and cosine >= check.threshold


_CHECKS: dict[str, Callable[[_Asked, Check, Any], bool]] = {
    "match": _Asked.text,
    "content": _Asked.text,
    "session": _Asked.session_name,
    "workdir": _Asked.workdir_path,
    "file": _Asked.file,
    "grep": _Asked.grep,
    "env": _Asked.env,
    "bin": _Asked.bin,
    "semantic": _Asked.semantic,
}
