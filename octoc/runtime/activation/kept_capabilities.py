"""Capabilities that a session keeps: they never give way to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


def pin(session: SessionState, capability: str) -> str:
    """Keep a capability in a session. Returns the effect in words."""
    if session.tools.capability(capability, by_host=True) is None:
        near = did_you_mean(capability, session.tools.switchable)
        return f"Capability '{capability}' not found: {near or 'this agent has no capability of that name'}"
    session.switching.pins[capability] = True
    set_pins(session)
    when = "" if capability in session.active else " once it is active"
    return f"Capability '{capability}' is pinned: it does not give way to others{when}, and counts as one."


def unpin(session: SessionState, capability: str) -> str:
    """Stop keeping a capability in a session. Returns the effect in words."""
    session.switching.pins[capability] = False
    set_pins(session)
    return f"Capability '{capability}' is not pinned."


def set_pins(session: SessionState) -> None:
    """Keep what the workspace pins, with the session's own changes."""
    own = session.switching.pins
    pinned = {*session.settings.pinned, *(name for name, wanted in own.items() if wanted)}
    session.active.pinned = frozenset(name for name in pinned if own.get(name, True))
