"""What changes in a session, as a record with which another process can continue it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from octoc.runtime.activation.activate import drop_unneeded, in_background, servers_of, switch_off
from octoc.runtime.activation.eviction import evictions_over_limits
from octoc.runtime.activation.holding import hold
from octoc.runtime.reload import connect_active
from octoc.runtime.skills.available import available_skills

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


@attrs.frozen(kw_only=True)
class SessionRecord:
    """The active capabilities and the skills of a session, by name.

    Args:
        active: active capabilities, the first activated first.
        by_last_use: the same, the least recently used first.
        skills: skills in use, the first used first.
        asked_for: capability that skills activated -> the skills in use that need it.
        has_stored: whether a result was cut, so that `read_result` has something to read.
    """

    active: tuple[str, ...] = ()
    by_last_use: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    asked_for: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    has_stored: bool = False

    def same_names(self, other: SessionRecord) -> bool:
        """Return whether two records differ at most in the order of last use."""
        return (self.active, self.skills, self.has_stored) == (other.active, other.skills, other.has_stored)


def record_of(session: SessionState) -> SessionRecord:
    """Return the record of a session as it is now."""
    skills = session.skills
    return SessionRecord(
        active=session.active.names,
        by_last_use=session.active.by_last_use(),
        skills=tuple(skills.used),
        asked_for={name: tuple(sorted(asking)) for name, asking in sorted(skills.asked_for.items())},
        has_stored=session.has_stored,
    )


def merged(theirs: SessionRecord, before: SessionRecord, mine: SessionRecord) -> SessionRecord:
    """Return `theirs` with the changes from `before` to `mine`: what was added comes last, what was removed is gone."""
    active = _merged(theirs.active, before.active, mine.active)
    # Names that were used here come last, in the order of their use.
    touched = () if mine.by_last_use == before.by_last_use else mine.by_last_use
    used = [name for name in theirs.by_last_use if name in active and name not in touched]
    asked = {**theirs.asked_for, **mine.asked_for}
    return SessionRecord(
        active=active,
        by_last_use=(*used, *(name for name in touched if name in active)),
        skills=_merged(theirs.skills, before.skills, mine.skills),
        asked_for={name: skills for name, skills in sorted(asked.items()) if name in active},
        has_stored=theirs.has_stored or mine.has_stored,
    )


def _merged(theirs: tuple[str, ...], before: tuple[str, ...], mine: tuple[str, ...]) -> tuple[str, ...]:
    removed = frozenset(before).difference(mine)
    added = [name for name in mine if name not in before]
    return tuple(dict.fromkeys([*(name for name in theirs if name not in removed), *added]))


async def take_over(session: SessionState, record: SessionRecord) -> None:
    """Make a session as a record says, as far as its own bundle has the names; servers connect at their first call.

    Limits are those of this session's bundle: the least recently used capabilities beyond them are inactive here.
    Raises: BundleFileError.
    """
    async with session.lock:
        if session.switching.ended:
            return
        registry, active = session.tools.registry, session.active
        own = frozenset((*registry.capabilities, *registry.reserved)).difference(registry.boot)
        known = [name for name in record.by_last_use if name in own and name in session.loaded.capabilities]
        wanted = known[max(0, len(known) - active.capacity) :]
        freed = [server for name in active.names if name not in wanted for server in switch_off(session, name)]
        for name in record.active:
            if name in wanted and name not in active:
                active.add(name)
                entry = session.tools.capability(name)
                hold(session, name, [] if entry is None else servers_of(entry))
        for name in wanted:
            active.touch((name,))
        freed += [server for name in evictions_over_limits(session) for server in switch_off(session, name)]
        session.tools.visible()
        drop_unneeded(session, session.loaded, freed)
    skills, usable = session.skills, frozenset(available_skills(session))
    skills.used = dict.fromkeys(name for name in record.skills if name in usable)
    skills.asked_for = {name: set(asking) for name, asking in record.asked_for.items() if name in active}
    session.has_stored = session.has_stored or record.has_stored
    if freed or record.active:
        in_background(session, connect_active(session))
