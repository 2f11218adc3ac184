"""Which skills a message uses, by their rules.

A line with no `semantic(…)` that holds uses its skill at once, however many there are; of the skills that only a line
with `semantic(…)` speaks for, the best one is used when it is `SEMANTIC_MARGIN` before the second.
Source: Octomind, skill auto-activation.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.skills.available import available_skills
from octoc.runtime.skills.workdir import Workdir

if TYPE_CHECKING:
    from octoc.bundle.model import SkillEntry
    from octoc.routing.skill_rules import Check
    from octoc.runtime.skills.rules import Line
    from octoc.runtime.state import SessionState

logger = logging.getLogger("octoc.runtime")

MAX_TEXT_CHARS = 65_536
"""How much of a message `match(…)` and `content(…)` look at."""


@attrs.frozen(kw_only=True)
class SkillMatch:
    """A skill that a message uses: the line of its rules that holds, and the cosine that it won by, if it did."""

    skill: str
    line: str
    score: float | None = None


def candidates_of(session: SessionState) -> tuple[str, ...]:
    """Return the skills that a message may use now: those of the agent that may fire, and are not used already."""
    skills = session.loaded.skills
    names = (name for name in available_skills(session) if name not in session.skills.used)
    return tuple(name for name in names if may_fire(session, skills[name]))


def may_fire(session: SessionState, entry: SkillEntry) -> bool:
    """Return whether a message can use a skill: it has rules, and domains with the agent's among them if it has one."""
    domain = session.agent.domain
    return bool(entry.rules and entry.domains) and (domain is None or domain in entry.domains)


def matching(
    session: SessionState, text: str, *, workdir: str | None = None, seconds: float | None = None
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
    asked = _MessageFacts(session, message[:MAX_TEXT_CHARS], clean_intent(text), _looked_at(folder, seconds))
    certain: list[SkillMatch] = []
    likely: list[SkillMatch] = []
    for name in names:
        found = _match(name, session.loaded.skill_rules.lines(name), asked)
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


def _match(skill: str, lines: Iterable[Line], asked: _MessageFacts) -> SkillMatch | None:
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


class _MessageFacts:
    """What one message is asked, each thing once."""

    def __init__(self, session: SessionState, message: str, intent: str, workdir: Workdir | None) -> None:
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

            rules = self._session.loaded.skill_rules
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
        found = self._session.runtime.variables.lookup(name)
        return found == value if equals else bool(found)

    def bin(self, check: Check, prepared: Any) -> bool:
        del prepared
        name, path = check.argument, self._session.runtime.deps.environ.get("PATH")
        return "/" not in name and "\0" not in name and shutil.which(name, path=path or "") is not None

    def semantic(self, check: Check, prepared: Any) -> bool:
        del prepared
        cosine = None if check.phrase is None else self.cosines.get(check.phrase)
        return cosine is not None and check.threshold is not None and cosine >= check.threshold


_CHECKS: dict[str, Callable[[_MessageFacts, Check, Any], bool]] = {
    "match": _MessageFacts.text,
    "content": _MessageFacts.text,
    "session": _MessageFacts.session_name,
    "workdir": _MessageFacts.workdir_path,
    "file": _MessageFacts.file,
    "grep": _MessageFacts.grep,
    "env": _MessageFacts.env,
    "bin": _MessageFacts.bin,
    "semantic": _MessageFacts.semantic,
}
