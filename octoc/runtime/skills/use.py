"""Using and forgetting skills, with the capabilities that they need.

A capability that a skill has activated is deactivated when the last skill that asked for it is forgotten, unless it was
activated again in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from octoc.caller import SKILLS
from octoc.diagnostics.suggest import did_you_mean
from octoc.runtime import telemetry
from octoc.runtime.activation.activate import activate_soon, deactivate, servers_of
from octoc.runtime.skills.available import available_skills, skills_in_use
from octoc.runtime.skills.text import skill_block
from octoc.runtime.values import UsedSkill

if TYPE_CHECKING:
    from octoc.bundle.model import SkillEntry
    from octoc.runtime.state import SessionState

T = TypeVar("T")
logger = logging.getLogger("octoc.runtime")


@attrs.frozen(kw_only=True)
class SkillChange:
    """The result of using or forgetting a skill: the text for the model, and the skill's own text if it is now used."""

    ok: bool
    text: str
    block: str = ""
    notes: tuple[str, ...] = ()


@attrs.frozen
class SessionSkills:
    """The skills of a session, for tools of this process that it calls."""

    session: SessionState

    @property
    def names(self) -> tuple[str, ...]:
        """The skills that the session may use, sorted."""
        return available_skills(self.session)

    async def use(self, name: str) -> SkillChange:
        """Use a skill, as `use_skill`. Raises: BundleFileError."""
        return await use_skill(self.session, name)


async def with_skills(session: SessionState, calling: Coroutine[Any, Any, T]) -> T:
    """Await a call of a tool of this process, which can then use the session's skills."""
    token = SKILLS.set(SessionSkills(session))
    try:
        return await calling
    finally:
        SKILLS.reset(token)


async def use_skill(session: SessionState, name: str) -> SkillChange:
    """Use a skill, and activate its capabilities; the notes report those that fail, and the skill is used without them.

    Raises: BundleFileError.
    """
    names, used = available_skills(session), session.skills.used
    if name not in names:
        near = did_you_mean(name, names)
        hint = f' Use skill(action="list") to see available skills.{f" {near}" if near else ""}'
        return SkillChange(ok=False, text=f"Skill '{name}' not found.{hint}")
    if name in used:
        return SkillChange(
            ok=True, text=f"Skill '{name}' is already active in this session. Use forget to remove it first."
        )
    used[name] = None
    done = False
    try:
        entry = session.loaded.skills[name]
        block = await asyncio.to_thread(skill_block, session, entry)
        with telemetry.step("octoc.skill", octoc__skill=name, gen_ai__agent__name=session.agent.name):
            notes = await _activate_needs(session, entry)
        done = True
    finally:
        if not done:
            used.pop(name, None)
    text = "\n".join([f"Skill '{name}' is now active.", *notes])
    return SkillChange(ok=True, text=text, block=block, notes=notes)


async def forget_skill(session: SessionState, name: str) -> SkillChange:
    """Stop using a skill, and deactivate the capabilities that only this skill has asked for."""
    if name not in skills_in_use(session):
        text = f"Skill '{name}' is not currently active. Use skill(action=\"list\") to see active skills."
        return SkillChange(ok=False, text=text)
    state = session.skills
    del state.used[name]
    state.refusals.pop(name, None)
    closed: list[str] = []
    for capability, skills in tuple(state.asked_for.items()):
        skills.discard(name)
        if not skills:
            state.asked_for.pop(capability, None)
            if capability in session.active:
                closed.extend((await deactivate(session, capability)).servers)
    offloaded = f" (offloaded servers: {', '.join(closed)})" if closed else ""
    cleaned = "Injected content will be cleaned up at next compression."
    return SkillChange(ok=True, text=f"Skill '{name}' removed from context{offloaded}. {cleaned}")


async def use_matching(session: SessionState, text: str) -> tuple[UsedSkill, ...]:
    """Use the skills whose rules a fresh message of the user meets. Raises: BundleFileError."""
    settings = session.loaded.bundle.settings.skills
    if not settings.auto or not available_skills(session):
        return ()
    from octoc.runtime.skills.matching import matching

    matches = await asyncio.to_thread(matching, session, text)
    if settings.max_per_message and len(matches) > settings.max_per_message:
        left_out = ", ".join(f"`{match.skill}`" for match in matches[settings.max_per_message :])
        logger.info("the rules of more skills are met than one message may use; not used: %s", left_out)
        matches = matches[: settings.max_per_message]
    used: list[UsedSkill] = []
    for match in matches:
        change = await use_skill(session, match.skill)
        if change.block:
            logger.info("skill used: '%s' [%s]", match.skill, match.line)
            used.append(UsedSkill(name=match.skill, why=match.line, text=change.block, notes=change.notes))
    return tuple(used)


async def _activate_needs(session: SessionState, entry: SkillEntry) -> tuple[str, ...]:
    """Activate a skill's capabilities as `capability(enable)` would, and return a note on each."""
    asked_for = session.skills.asked_for
    notes: dict[str, str] = {}
    for name in entry.capabilities:
        capability = session.tools.capability(name)
        if capability is None and session.tools.registry.confined:
            continue  # a capability out of scope is not named either
        missing = () if capability is None else session.runtime.variables.missing(capability)
        if missing and name not in session.active:
            notes[name] = f"⚠️ Capability '{name}' skipped — missing env vars: {', '.join(missing)}"
            continue
        change = await activate_soon(session, name)
        if not change.ok or capability is None:
            notes[name] = f"⚠️ {change.text}"
            continue
        if change.pending:
            notes[name] = change.text  # it then is independent of the skill
            continue
        if change.changed:
            asked_for[name] = {entry.name}
        elif name in asked_for:
            asked_for[name].add(entry.name)
        servers = ", ".join(servers_of(capability))
        notes[name] = f"Loaded capability '{name}' (servers: {servers})" if servers else change.text
    for name in notes:
        if entry.name in asked_for.get(name, ()) and name not in session.active:
            limit = session.active.capacity
            notes[name] = f"⚠️ Capability '{name}' was evicted for the others: no more than {limit} are active at once"
    return tuple(notes.values())
