"""The skills of one session: which there are, which are used, and what using and forgetting one does."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.model import SkillEntry
from octoc.diagnostics.suggest import did_you_mean
from octoc.runtime import telemetry
from octoc.runtime.activation.activate import activate, deactivate, servers_of
from octoc.runtime.skills.text import skill_block
from octoc.runtime.values import UsedSkill

if TYPE_CHECKING:
    from octoc.runtime.session import Session

logger = logging.getLogger("octoc.runtime")


@attrs.frozen(kw_only=True)
class SkillChange:
    """What became of a wish to use or forget a skill: the model's text, and the skill's own where it is used now."""

    ok: bool
    text: str
    block: str = ""
    notes: tuple[str, ...] = ()


class SkillSet:
    """The skills of a session, in the order in which they were used.

    A capability that using a skill has activated is deactivated when the last skill that asked for it is forgotten,
    unless somebody else has activated it anew in between.
    """

    def __init__(self, session: Session) -> None:
        # Weakly: a session that is let go must go at once.
        self._owner = weakref.ref(session)
        self._used: dict[str, None] = {}
        self._asked_for: dict[str, set[str]] = {}
        self.refusals: dict[str, int] = {}
        """How often in a row each skill's `validate` script has refused a reply."""

    @property
    def _session(self) -> Session:
        session = self._owner()
        if session is None:
            raise RuntimeError("the session is gone")
        return session

    @property
    def names(self) -> tuple[str, ...]:
        """The skills that this session may use, sorted."""
        known = self._session.generation.skills
        return tuple(name for name in self._session.surface.registry.skills if name in known)

    @property
    def used(self) -> tuple[str, ...]:
        """The skills in use, the first used first."""
        return tuple(name for name in self._used if name in self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._used

    def entry(self, name: str) -> SkillEntry:
        """Return a skill of the bundle."""
        return self._session.generation.skills[name]

    def activated(self, capability: str) -> None:
        """Note that a capability was activated: whoever asked for an earlier activation has no part in this one."""
        self._asked_for.pop(capability, None)

    async def use(self, name: str) -> SkillChange:
        """Use a skill, and activate its capabilities; what of them fails is said, and the skill is used without it.

        Raises: BundleRefused.
        """
        import asyncio

        session = self._session
        if name not in self.names:
            near = did_you_mean(name, self.names)
            hint = f' Use skill(action="list") to see available skills.{f" {near}" if near else ""}'
            return SkillChange(ok=False, text=f"Skill '{name}' not found.{hint}")
        if name in self._used:
            return SkillChange(
                ok=True, text=f"Skill '{name}' is already active in this session. Use forget to remove it first."
            )
        self._used[name] = None
        done = False
        try:
            entry = self.entry(name)
            block = await asyncio.to_thread(skill_block, session, entry)
            with telemetry.step("octoc.skill", octoc__skill=name, gen_ai__agent__name=session.agent.name):
                notes = await self._activate_needs(entry)
            done = True
        finally:
            if not done:
                self._used.pop(name, None)
        text = "\n".join([f"Skill '{name}' is now active.", *notes])
        return SkillChange(ok=True, text=text, block=block, notes=notes)

    async def forget(self, name: str) -> SkillChange:
        """Stop using a skill, and deactivate what only it has asked for."""
        if name not in self.used:
            text = f"Skill '{name}' is not currently active. Use skill(action=\"list\") to see active skills."
            return SkillChange(ok=False, text=text)
        del self._used[name]
        self.refusals.pop(name, None)
        closed: list[str] = []
        for capability, skills in tuple(self._asked_for.items()):
            skills.discard(name)
            if not skills:
                self._asked_for.pop(capability, None)
                if capability in self._session.active:
                    closed.extend((await deactivate(self._session, capability)).servers)
        offloaded = f" (offloaded servers: {', '.join(closed)})" if closed else ""
        cleaned = "Injected content will be cleaned up at next compression."
        return SkillChange(ok=True, text=f"Skill '{name}' removed from context{offloaded}. {cleaned}")

    async def use_matching(self, text: str) -> tuple[UsedSkill, ...]:
        """Use the skills whose rules a fresh message of the user meets. Raises: BundleRefused."""
        import asyncio

        settings = self._session.generation.bundle.settings.skills
        if not settings.auto or not self.names:
            return ()
        from octoc.runtime.skills.rules import matching

        found = await asyncio.to_thread(matching, self._session, text)
        if settings.max_per_message and len(found) > settings.max_per_message:
            left_out = ", ".join(f"`{match.skill}`" for match in found[settings.max_per_message :])
            logger.info("the rules of more skills are met than one message may use; not used: %s", left_out)
            found = found[: settings.max_per_message]
        used: list[UsedSkill] = []
        for match in found:
            change = await self.use(match.skill)
            if change.block:
                logger.info("skill used: '%s' [%s]", match.skill, match.line)
                used.append(UsedSkill(name=match.skill, why=match.line, text=change.block, notes=change.notes))
        return tuple(used)

    async def _activate_needs(self, entry: SkillEntry) -> tuple[str, ...]:
        """Activate a skill's capabilities as `capability(enable)` would, and say what became of each."""
        session = self._session
        notes: dict[str, str] = {}
        for name in entry.capabilities:
            capability = session.surface.capability(name)
            if capability is None and session.surface.registry.confined:
                continue  # what is out of scope has no name either
            missing = () if capability is None else session.runtime.missing_env(capability)
            if missing and name not in session.active:
                notes[name] = f"⚠️ Capability '{name}' skipped — missing env vars: {', '.join(missing)}"
                continue
            change = await activate(session, name)
            if not change.ok or capability is None:
                notes[name] = f"⚠️ {change.text}"
                continue
            if change.changed:
                self._asked_for[name] = {entry.name}
            elif name in self._asked_for:
                self._asked_for[name].add(entry.name)
            servers = ", ".join(servers_of(capability))
            notes[name] = f"Loaded capability '{name}' (servers: {servers})" if servers else change.text
        for name in notes:
            pushed_out = name in self._asked_for and entry.name in self._asked_for[name] and name not in session.active
            if pushed_out:
                limit = session.active.capacity
                notes[name] = f"⚠️ Capability '{name}' gave way to the others: no more than {limit} are active at once"
        return tuple(notes.values())
