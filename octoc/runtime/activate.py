"""Activating and deactivating a capability in one session: connect first, and only then evict what has to give way.

A server is open while somebody needs it. Who needs a server: a session whose active capability has a tool of it; a
session whose direct or boot tools are on it; and a session that reached it through the proxy, until that session ends.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.model import CapabilityEntry
from octoc.diagnostics.suggest import did_you_mean
from octoc.runtime import telemetry
from octoc.runtime.pool import Unreachable
from octoc.runtime.results import redact

if TYPE_CHECKING:
    from octoc.runtime.active_set import Use
    from octoc.runtime.deps import DepState
    from octoc.runtime.session import Session

logger = logging.getLogger("octoc.runtime")

ALL_TOOLS = "all tools the server exposes (list populates on first use if empty now)"
NO_TOOLS = "none — the configured allowed_tools filter excluded every tool the server reported"


@attrs.frozen(kw_only=True)
class Change:
    """What became of a wish to switch a capability: a text for the model, and the servers connected or closed."""

    ok: bool
    text: str
    changed: bool = False
    servers: tuple[str, ...] = ()


async def activate(session: Session, name: str) -> Change:
    """Make a capability active, or say why not. When a server cannot be connected nothing is activated nor evicted."""
    with telemetry.step("octoc.activate", octoc__capability=name, gen_ai__agent__name=session.agent.name) as watched:
        change = await _activated(session, name)
        watched.note(octoc__changed=change.changed)
        if not change.ok:
            watched.failed("refused")
        return change


async def _activated(session: Session, name: str) -> Change:
    async with session.lock:
        entry = session.generation.capabilities.get(name)
        if entry is None or name not in session.surface.switchable:
            return _refused(f"Capability '{name}' not found: {_why_not_found(session, name)}")
        if name in session.active or name in session.surface.registry.boot:
            return Change(ok=True, text=f"Capability '{name}' is already active.")
        refusal = _refusal(session, entry)
        if refusal is not None:
            return _refused(refusal)
        return await _connect_and_switch(session, entry)


def _refused(text: str) -> Change:
    return Change(ok=False, text=text)


def _why_not_found(session: Session, name: str) -> str:
    near = did_you_mean(name, session.surface.switchable)
    return near or "this agent has no capability of that name"


def domain_refusal(session: Session, name: str) -> str | None:
    """Return the text for a capability of other domains than the session's agent has, or None."""
    entry = session.generation.capabilities.get(name)
    domain = session.agent.domain
    if entry is None or domain is None or not entry.domains or domain in entry.domains:
        return None
    bound = json.dumps(list(entry.domains), ensure_ascii=False)
    return (
        f"Capability '{name}' is bound to domains {bound}; current domain is '{domain}'. "
        f"Run the matching role (e.g. `octomind run {entry.domains[0]}:general`) to access it."
    )


def _refusal(session: Session, entry: CapabilityEntry) -> str | None:
    missing = session.runtime.missing_env(entry)
    if missing:
        return f"Capability '{entry.name}' requires env vars: {', '.join(missing)} — set them before activating."
    if not entry.grants and not entry.deps:
        return f"Capability '{entry.name}' has no [[mcp.servers]] and no [deps] — nothing to activate."
    if session.active.capacity < 1:
        return f"Capability '{entry.name}' cannot be activated: the workspace allows no active capability (max_active)."
    return None


async def _connect_and_switch(session: Session, entry: CapabilityEntry) -> Change:
    import asyncio

    name = entry.name
    # Held before connecting: nobody else may close a server that this session is waiting for.
    session.hold(name, uses_of(session, entry))
    switched = False
    try:
        deps = await session.runtime.deps.states(session.generation, entry.deps)
        failed = next((dep for dep in deps if dep.state == "failed"), None)
        if failed is not None:
            return _refused(f"Capability '{name}' could not be activated: dependency '{failed.name}': {failed.note}")
        bound = [server for server in servers_of(entry) if session.generation.can_connect(server)]
        problems = await asyncio.gather(*(_open(session, server) for server in bound))
        problem = next((text for text in problems if text is not None), None)
        if problem is not None:
            absent = _listed(deps, "missing")
            hint = f"; not installed: {absent}" if absent else ""
            return _refused(f"Capability '{name}' could not be activated: {problem}{hint}")
        evicted = session.active.evicted_by_one_more()
        for victim in evicted:
            session.active.remove(victim)
        session.surface.visible()
        session.active.add(name)
        session.surface.visible()
        session.hold(name, uses_of(session, entry))
        switched = True
    finally:
        if not switched:
            await asyncio.shield(_close(session, session.release(name)))
    for victim in evicted:
        closed = await _close(session, session.release(victim))
        logger.info("capability LRU evicted: '%s' (%d server(s) disabled to make room)", victim, len(closed))
    return Change(ok=True, changed=True, text=_enabled_text(session, entry, bound, deps), servers=tuple(bound))


def uses_of(session: Session, entry: CapabilityEntry) -> list[Use]:
    """Return what a session needs while a capability is active in it."""
    tools: list[Use] = [
        (tool.id.server, tool.id.tool)
        for tool in (session.generation.catalog[index] for index in session.surface.owned(entry.name))
    ]
    # Also the server as such: it was connected although the patterns may match none of its tools.
    return [*tools, *((server, "*") for server in servers_of(entry))]


def servers_of(entry: CapabilityEntry) -> tuple[str, ...]:
    """Return the servers that a capability has tools of, in its own order."""
    return tuple(dict.fromkeys(grant.server for grant in entry.grants))


async def _open(session: Session, server: str) -> str | None:
    try:
        async with session.generation.pool.use(server):
            return None
    except Unreachable as unreachable:
        message = redact(unreachable.failure.message, session.generation.connector.secrets(server))
        return f"server '{server}': {message}"


async def _close(session: Session, servers: Iterable[str]) -> tuple[str, ...]:
    """Close the servers that nobody needs; returns those that were open."""
    pool = session.generation.pool
    closing = [server for server in pool.servers if server in set(servers)]
    for server in closing:
        await pool.close(server)
    return tuple(closing)


def _listed(deps: Sequence[DepState], state: str) -> str:
    return ", ".join(str(dep) for dep in deps if dep.state == state)


def _deps_text(entry: CapabilityEntry, deps: Sequence[DepState]) -> str:
    """Return the text for a capability of dependencies alone; that of Octomind where all of them are there."""
    enabled = f"Capability '{entry.name}' enabled."
    if all(dep.state == "ready" for dep in deps):
        return f"{enabled} Installed deps: {', '.join(entry.deps)}"
    if all(dep.state == "unasked" for dep in deps):
        expected = f"It has no servers and expects these deps: {', '.join(entry.deps)}."
        return f"{enabled} {expected} octoc does not install deps: they were not run."
    headings = {"ready": "Installed deps", "missing": "Not installed", "unknown": "Not known whether installed"}
    parts = (f"{heading}: {found}." for state, heading in headings.items() if (found := _listed(deps, state)))
    return f"{enabled} It has no servers. {' '.join(parts)} octoc does not install deps: they were not run."


def _enabled_text(session: Session, entry: CapabilityEntry, connected: list[str], deps: Sequence[DepState]) -> str:
    if not entry.grants:
        return _deps_text(entry, deps)
    unbound = [server for server in servers_of(entry) if server not in connected]
    aliases = [session.generation.catalog[index].alias for index in session.surface.owned(entry.name)]
    if unbound and not connected:
        tools = f"none — nothing is bound to builtin server(s): {', '.join(unbound)}"
    elif all(grant.globs == ("*",) for grant in entry.grants):
        tools = ALL_TOOLS
    else:
        tools = ", ".join(aliases) or NO_TOOLS
    missing = _listed(deps, "missing")
    absent = f"\nNot installed: {missing}" if missing else ""
    return (
        f"Capability '{entry.name}' enabled. Activated {len(connected)} server(s): {', '.join(connected)}\n"
        f"Tools available: {tools}{absent}"
    )


async def deactivate(session: Session, name: str) -> Change:
    """Make a capability inactive, and close the servers that nobody needs any more."""
    async with session.lock:
        if name in session.surface.registry.boot:
            return _refused(f"Capability '{name}' is granted from the start and cannot be disabled.")
        if name not in session.active:
            return Change(ok=True, text=f"Capability '{name}' is not active.")
        session.active.remove(name)
        session.surface.visible()
        closed = await _close(session, session.release(name))
        count = f"Fully shut down {len(closed)} server(s)"
        which = ", ".join(closed) or "(none — all servers still in use by other active capabilities)"
        return Change(ok=True, changed=True, text=f"Capability '{name}' disabled. {count}: {which}", servers=closed)


async def end(session: Session) -> None:
    """Let go of all that a session needs."""
    async with session.lock:
        for name in session.active.names:
            session.active.remove(name)
        await _close(session, session.release_all())
