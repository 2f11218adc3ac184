"""The skills of a bundle or of one agent, as `octoc show skills` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octoc.bundle.model import SkillEntry
    from octoc.runtime import Runtime, Session


def list_skills(runtime: Runtime, agent: str | None) -> list[dict[str, Any]]:
    """Return the skills, and for an agent those that it may use, each with why it has it and what uses it."""
    session = None if agent is None else runtime.owners_session(agent)
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "domains": list(entry.domains),
            "capabilities": list(entry.capabilities),
            "rules": list(entry.rules),
            "resources": len(entry.resources),
            **({} if session is None else {"why": _why(session, entry), "used_by": _used_by(session, entry)}),
        }
        for entry in runtime.bundle.skills
        if session is None or entry.name in session.available_skills
    ]


def _why(session: Session, entry: SkillEntry) -> str:
    domain = session.agent.domain
    if domain is not None:
        return f"domain {domain}" if domain in entry.domains else "of no domain"
    skills = session.state.loaded.bundle.skills
    everything = {skill.name for skill in skills}
    universal = {skill.name for skill in skills if not skill.domains}
    # An agent without a domain has all of either, unless its file names what it has.
    if set(session.available_skills) not in (everything, universal):
        return "named by the agent"
    return "the agent has no domain" if entry.domains else "of no domain"


def _used_by(session: Session, entry: SkillEntry) -> str:
    from octoc.runtime.skills.matching import may_fire

    state = session.state
    by_rules = state.loaded.bundle.settings.skills.auto and may_fire(state, entry)
    return "rules, name" if by_rules else "name"
