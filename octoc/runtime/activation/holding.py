"""Which servers and tools a session needs, as the runtime counts them over all sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.runtime.activation.active_set import Use
    from octoc.runtime.state import SessionState

_BASE, _PROXY = "*base", "*proxy"


def hold(session: SessionState, holder: str, uses: Iterable[Use]) -> None:
    """Note that `holder`, a capability or a part of the session, needs exactly these tools."""
    session.holders.add(holder)
    session.runtime.references.hold((session.number, holder), uses)


def hold_base(session: SessionState) -> None:
    """Note what the tools need that are visible from the start, as far as they are known now."""
    hold(session, _BASE, session.tools.scope.base_uses())


def hold_proxied(session: SessionState) -> None:
    """Note what the tools need that calls reached though they are not visible."""
    if session.proxied:
        hold(session, _PROXY, session.proxied)


def note_proxied(session: SessionState, index: int) -> None:
    """Note that a call reached a tool that is not visible: its server stays until the session ends."""
    tool = session.loaded.catalog[index].id
    use = (tool.server, tool.tool)
    if use not in session.proxied:
        session.proxied.add(use)
        hold_proxied(session)


def release(session: SessionState, holder: str) -> frozenset[str]:
    """Note that `holder` needs nothing any more. Returns the servers that no session needs."""
    session.holders.discard(holder)
    return session.runtime.references.release((session.number, holder))


def release_all(session: SessionState) -> frozenset[str]:
    """Note that the session needs nothing any more. Returns the servers that no session needs."""
    freed = [release(session, holder) for holder in tuple(session.holders)]
    references = session.runtime.references
    return frozenset(server for servers in freed for server in servers if not references.is_needed(server))
