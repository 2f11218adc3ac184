"""Which skills a message uses, by their rules.

A skill is used if one of its lines without `semantic(…)` holds. Among skills with only a matching `semantic(…)` line,
the best is used if it scores at least `SEMANTIC_MARGIN` more than the second. Source: Octomind, skill auto-activation.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping
from functools import cached_property
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
"""The part of a message that `match(…)` and `content(…)` search."""


@attrs.frozen(kw_only=True)
class SkillMatch:
    """A skill that a message uses: the line of its rules that holds, and its cosine if the line is semantic."""

    skill: str
    line: str
    score: float | None = None


def candidates_of(session: SessionState) -> tuple[str, ...]:
    """Return the skills that a message may use now: those of the agent that may fire and are not in use."""
    skills = session.loaded.skills
    names = (name for name in available_skills(session) if name not in session.skills.used)
    return tuple(name for name in names if may_fire(session, skills[name]))


def may_fire(session: SessionState, entry: SkillEntry) -> bool:
    """Return whether a message can use a skill: it has rules and domains, among them the agent's if that has one."""
    domain = session.agent.domain
    return bool(entry.rules and entry.domains) and (domain is None or domain in entry.domains)


def matching(session: SessionState, text: str, *, workdir: str | None = None) -> tuple[SkillMatch, ...]:
    """Return the skills whose rules a user's message meets; changes nothing. May load the encoder, which takes seconds.

    Args:
        workdir: the folder to look at, instead of the session's own.
    """
    from octoc.routing.clean import clean_intent, is_routable, strip_xml_blocks
    from octoc.routing.skill_rules import SEMANTIC_MARGIN

    names = candidates_of(session)
    message = strip_xml_blocks(text).strip()
    if not names or not is_routable(message):
        return ()
    folder = workdir or session.caller.workdir
    facts = _MessageFacts(session, message[:MAX_TEXT_CHARS], clean_intent(text), Workdir(folder) if folder else None)
    certain: list[SkillMatch] = []
    likely: list[SkillMatch] = []
    for name in names:
        match = _match(name, session.loaded.skill_rules.lines(name), facts)
        if match is not None:
            (certain if match.score is None else likely).append(match)
    if facts.workdir is not None and not facts.workdir.complete:
        logger.warning("not all of `%s` was looked at for the rules of skills", facts.workdir.root)
    likely.sort(key=lambda match: -(match.score or 0.0))
    second = (likely[1].score or 0.0) if len(likely) > 1 else 0.0
    if likely and (likely[0].score or 0.0) - second >= SEMANTIC_MARGIN:
        certain.append(likely[0])
    return tuple(certain)


def _match(skill: str, lines: Iterable[Line], facts: _MessageFacts) -> SkillMatch | None:
    best: SkillMatch | None = None
    for line in lines:
        if not line.checks or not all(facts.holds(check, prepared) for check, prepared in line.checks):
            continue
        if not line.is_semantic:
            return SkillMatch(skill=skill, line=line.text)
        score = max(facts.cosines[check.phrase] for check, _ in line.checks if check.phrase is not None)
        if best is None or score > (best.score or 0.0):
            best = SkillMatch(skill=skill, line=line.text, score=score)
    return best


class _MessageFacts:
    """The facts about one message that checks ask for; each check runs once."""

    def __init__(self, session: SessionState, message: str, intent: str, workdir: Workdir | None) -> None:
        self._session = session
        self._message = message
        self._intent = intent
        self._results: dict[tuple[str, str], bool] = {}
        self.workdir = workdir

    @cached_property
    def cosines(self) -> Mapping[str, float]:
        """The cosine between the message and each phrase of the bundle."""
        from octoc.routing.clean import is_routable

        return self._session.loaded.skill_rules.cosines(self._intent) if is_routable(self._intent) else {}

    def holds(self, check: Check, prepared: Any) -> bool:
        """Return whether a check holds; `prepared` is its compiled expression."""
        key = (check.name, check.argument)
        if key not in self._results:
            self._results[key] = bool(check.argument) and self._run(check, prepared)
        return self._results[key]

    def _run(self, check: Check, prepared: Any) -> bool:
        argument, session, workdir = check.argument, self._session, self.workdir
        match check.name:
            case "match" | "content":
                return prepared is not None and prepared.search(self._message) is not None
            case "session":
                return argument.lower() in (session.caller.session or "").lower()
            case "workdir":
                return workdir is not None and argument.lower() in workdir.root.lower()
            case "file":
                return workdir is not None and workdir.has(argument)
            case "grep":
                return workdir is not None and prepared is not None and workdir.contains(prepared, check.glob)
            case "env":
                name, equals, wanted = (part.strip() for part in argument.partition("="))
                value = session.runtime.variables.lookup(name)
                return value == wanted if equals else bool(value)
            case "bin":
                path = session.runtime.deps.environ.get("PATH") or ""
                return not {"/", "\0"} & set(argument) and shutil.which(argument, path=path) is not None
            case _:
                cosine = None if check.phrase is None else self.cosines.get(check.phrase)
                return cosine is not None and check.threshold is not None and cosine >= check.threshold
