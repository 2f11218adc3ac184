"""The skills that a session may use, and those that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


def available_skills(session: SessionState) -> tuple[str, ...]:
    """Return the names of the skills that a session may use, sorted."""
    by_name = session.loaded.skills
    return tuple(name for name in session.tools.registry.skills if name in by_name)


def skills_in_use(session: SessionState) -> tuple[str, ...]:
    """Return the names of the skills in use, the first used first."""
    names = available_skills(session)
    return tuple(name for name in session.skills.used if name in names)
