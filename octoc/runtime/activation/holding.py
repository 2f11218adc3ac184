"""Record which servers a session needs; the runtime counts them over all sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState

_BASE, _PROXY = "*base", "*proxy"


def hold(session: SessionState, holder: str, servers: Iterable[str]) -> None:
    """Record that `holder`, a capability or a part of the session, needs exactly these servers."""
    session.holders.add(holder)
    session.runtime.references.hold((session.number, holder), servers)


def hold_base(session: SessionState) -> None:
    """Record the servers of the tools that are visible from the start, as far as these are known now."""
    hold(session, _BASE, session.tools.scope.base_servers())


def hold_proxied(session: SessionState) -> None:
    """Record the servers of tools that calls reached though they are not visible."""
    if session.proxied:
        hold(session, _PROXY, session.proxied)


def note_proxied(session: SessionState, index: int) -> None:
    """Record that a call reached a tool that is not visible; its server stays open until the session ends."""
    server = session.loaded.catalog[index].id.server
    if server not in session.proxied:
        session.proxied.add(server)
        hold_proxied(session)


def release(session: SessionState, holder: str) -> frozenset[str]:
    """Record that `holder` needs nothing any more. Returns the servers that no session needs."""
    session.holders.discard(holder)
    return session.runtime.references.release((session.number, holder))


def release_all(session: SessionState) -> frozenset[str]:
    """Record that the session needs nothing any more. Returns the servers that no session needs."""
    freed = [release(session, holder) for holder in tuple(session.holders)]
    references = session.runtime.references
    return frozenset(server for servers in freed for server in servers if not references.is_needed(server))
