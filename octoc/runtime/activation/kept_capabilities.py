"""Capabilities that a session keeps: they are never evicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.runtime.activation.activate import not_found

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


def keep(session: SessionState, capability: str) -> str:
    """Keep a capability in a session. Returns the effect in words."""
    if session.tools.capability(capability, by_host=True) is None:
        return not_found(session, capability)
    session.switching.keeps[capability] = True
    update_kept(session)
    when = "" if capability in session.active else " once it is active"
    return f"Capability '{capability}' is kept: it is never evicted{when}, and the limits count it."


def stop_keeping(session: SessionState, capability: str) -> str:
    """Stop keeping a capability in a session. Returns the effect in words."""
    session.switching.keeps[capability] = False
    update_kept(session)
    return f"Capability '{capability}' is not kept."


def update_kept(session: SessionState) -> None:
    """Keep what the workspace keeps, with the session's own changes."""
    own = session.switching.keeps
    kept = {*session.settings.kept, *(name for name, is_kept in own.items() if is_kept)}
    session.active.kept = frozenset(name for name in kept if own.get(name, True))
