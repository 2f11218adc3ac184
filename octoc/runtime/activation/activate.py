"""Activating and deactivating a capability in one session: connect first, and only then evict what has to give way.

A server is open while somebody needs it. Who needs a server: a session whose active capability has a tool of it; a
session whose direct or boot tools are on it; and a session that reached it through the proxy, until that session ends.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import CapabilityEntry
from octoc.diagnostics.suggest import did_you_mean
from octoc.runtime import telemetry
from octoc.runtime.activation.eviction import evictions_for, evictions_over_limits, no_room
from octoc.runtime.activation.holding import hold, release, release_all
from octoc.runtime.cancellation import outlast
from octoc.runtime.servers.unreachable import UnreachableError
from octoc.secrets import redact

if TYPE_CHECKING:
    import asyncio

    from octoc.runtime.activation.active_set import Use
    from octoc.runtime.activation.dependencies import Dependencies, DepState
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.state import SessionState

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


async def activate(session: SessionState, name: str, *, by_host: bool = False) -> Change:
    """Make a capability active, or say why not. When a server cannot be connected nothing is activated nor evicted.

    Args:
        by_host: whether the host asks, who may activate what neither the model nor a message may.
    """
    with telemetry.step("octoc.activate", octoc__capability=name, gen_ai__agent__name=session.agent.name) as watched:
        change = await _activated(session, name, by_host=by_host)
        watched.note(octoc__changed=change.changed)
        if not change.ok:
            watched.failed("refused")
        return change


async def _activated(session: SessionState, name: str, *, by_host: bool) -> Change:
    # One at a time for each capability, so that whoever asks twice hears that it is active.
    async with session.switching.lock_of(name):
        change = None
        while change is None:
            async with session.lock:
                entry = session.tools.capability(name, by_host=by_host)
                answer = _answer_at_once(session, name, entry)
                if answer is not None or entry is None:
                    return answer or _refused(f"Capability '{name}' not found")
                loaded = session.loaded
                # Held before connecting: nobody else may close a server that this session is waiting for.
                hold(session, name, uses_of(session, entry))
            change = await _connect_and_switch(session, loaded, entry, by_host=by_host)
        return change


def _answer_at_once(session: SessionState, name: str, entry: CapabilityEntry | None) -> Change | None:
    """Return what can be said before anything is connected, or None when it is to be tried."""
    if entry is None:
        return _refused(f"Capability '{name}' not found: {_why_not_found(session, name)}")
    if name in session.active or name in session.tools.registry.boot:
        return Change(ok=True, text=f"Capability '{name}' is already active.")
    refusal = _refusal(session, entry)
    return None if refusal is None else _refused(refusal)


def _refused(text: str) -> Change:
    return Change(ok=False, text=text)


def _why_not_found(session: SessionState, name: str) -> str:
    near = did_you_mean(name, session.tools.switchable)
    return near or "this agent has no capability of that name"


def domain_refusal(session: SessionState, name: str) -> str | None:
    """Return the text for a capability of other domains than the session's agent has, or None."""
    settings = session.loaded.bundle.settings
    confined = session.tools.registry.confined if settings.scoped is None else settings.scoped
    if confined or settings.mode == "production" or name in session.tools.registry.reserved:
        # Why it is not there may be its scope as well, and what is out of scope does not exist.
        return None
    entry = session.loaded.capabilities.get(name)
    domain = session.agent.domain
    if entry is None or domain is None or not entry.domains or domain in entry.domains:
        return None
    bound = json.dumps(list(entry.domains), ensure_ascii=False)
    return (
        f"Capability '{name}' is bound to domains {bound}; current domain is '{domain}'. "
        f"Run the matching role (e.g. `octomind run {entry.domains[0]}:general`) to access it."
    )


def _refusal(session: SessionState, entry: CapabilityEntry) -> str | None:
    missing = session.runtime.variables.missing(entry)
    if missing:
        return f"Capability '{entry.name}' requires env vars: {', '.join(missing)} — set them before activating."
    if not entry.grants and not entry.deps:
        if entry.servers_left_out or session.tools.registry.confined:
            return f"Capability '{entry.name}' has no server that can be used and no [deps] — nothing to activate."
        return f"Capability '{entry.name}' has no [[mcp.servers]] and no [deps] — nothing to activate."
    if session.switching.ended:
        return _session_closed(entry.name)
    return None if evictions_for(session, entry.name) is not None else no_room(session, entry.name)


def _session_closed(name: str) -> str:
    return f"Capability '{name}' could not be activated: the session is closed."


@attrs.frozen(kw_only=True)
class _Prepared:
    """What came of connecting: the servers that are bound to something, and the text of the first problem."""

    deps: tuple[DepState, ...] = ()
    bound: tuple[str, ...] = ()
    problem: str | None = None


async def _connect_and_switch(
    session: SessionState, loaded: LoadedBundle, entry: CapabilityEntry, *, by_host: bool
) -> Change | None:
    """Connect, and then change the active set in one step; None when the session has another bundle meanwhile."""
    name = entry.name
    switched = False
    try:
        prepared = await _uncancelled(session, _prepare(session.runtime.deps, loaded, entry))
        if prepared is None:
            return _refused(_session_closed(name))
        if prepared.problem is not None:
            return _refused(f"Capability '{name}' could not be activated: {prepared.problem}")
        async with session.lock:
            if session.switching.ended:
                return _refused(_session_closed(name))
            if session.loaded is not loaded:
                return None
            if session.tools.capability(name, by_host=by_host) is None:  # its servers listed only excluded tools
                return _answer_at_once(session, name, None)
            # Only now, as other messages and calls went on meanwhile; and an unlisted server's tools are known.
            evicted = evictions_for(session, name)
            if evicted is None:
                return _refused(no_room(session, name))
            for victim in evicted:
                session.active.remove(victim)
            session.active.add(name)
            # Once, and not before it is added: a tool that only changes its owner stays where it stands.
            if evicted:
                session.tools.settle()
            session.tools.visible()
            hold(session, name, uses_of(session, entry))
            freed = {victim: release(session, victim) for victim in evicted}
            switched = True
            # A skill that asked for an earlier activation has no part in this one.
            session.skills.asked_for.pop(name, None)
    finally:
        if not switched:
            release(session, name)
            _drop(session, loaded, servers_of(entry))
    for victim, servers in freed.items():
        closing, _ = _drop(session, loaded, servers)
        logger.info("capability LRU evicted: '%s' (%d server(s) disabled to make room)", victim, len(closing))
    text = _enabled_text(session, entry, prepared.bound, prepared.deps)
    return Change(ok=True, changed=True, text=text, servers=prepared.bound)


async def _uncancelled(session: SessionState, work: Coroutine[Any, Any, _Prepared]) -> _Prepared | None:
    """Return what the work gives; None when the session ended meanwhile, which cancels it."""
    import asyncio

    task = asyncio.create_task(work, name="octoc activate")
    session.switching.preparing.add(task)
    try:
        await asyncio.wait({task})
    finally:
        session.switching.preparing.discard(task)
        task.cancel()
        await outlast([task])
    return None if task.cancelled() else task.result()


async def _prepare(dependencies: Dependencies, loaded: LoadedBundle, entry: CapabilityEntry) -> _Prepared:
    deps = await dependencies.states(loaded.opened, entry.deps)
    failed = next((dep for dep in deps if dep.state == "failed"), None)
    if failed is not None:
        return _Prepared(problem=f"dependency '{failed.name}': {failed.note}")
    bound = tuple(server for server in servers_of(entry) if loaded.can_connect(server))
    problem = await _connected(loaded, bound)
    absent = _listed(deps, "missing")
    if problem is not None and absent:
        problem += f"; not installed: {absent}"
    return _Prepared(deps=tuple(deps), bound=bound, problem=problem)


async def _connected(loaded: LoadedBundle, servers: Sequence[str]) -> str | None:
    """Connect all servers at the same time, within the workspace's limit; returns what went wrong with the first."""
    import asyncio

    if not servers:
        return None
    seconds = loaded.bundle.settings.activate_timeout_s
    tasks = [asyncio.create_task(_open(loaded, server), name=f"octoc open {server}") for server in servers]
    try:
        await asyncio.wait(tasks, timeout=seconds)
    finally:
        late = [server for server, task in zip(servers, tasks, strict=True) if not task.done()]
        for task in tasks:
            task.cancel()
        await outlast(tasks)
    told = (
        f"server '{server}' was not connected within {seconds:g} s" if server in late else task.result()
        for server, task in zip(servers, tasks, strict=True)
    )
    return next((text for text in told if text is not None), None)


def _switch_off(session: SessionState, name: str) -> frozenset[str]:
    """Make a capability inactive. Returns the servers that no session needs any more."""
    session.active.remove(name)
    session.tools.settle()
    return release(session, name)


def uses_of(session: SessionState, entry: CapabilityEntry) -> list[Use]:
    """Return what a session needs while a capability is active in it."""
    tools: list[Use] = [
        (tool.id.server, tool.id.tool)
        for tool in (session.loaded.catalog[index] for index in session.tools.owned(entry.name))
    ]
    # Also the server as such: it was connected although the patterns may match none of its tools.
    return [*tools, *((server, "*") for server in servers_of(entry))]


def servers_of(entry: CapabilityEntry) -> tuple[str, ...]:
    """Return the servers that a capability has tools of, in its own order."""
    return tuple(dict.fromkeys(grant.server for grant in entry.grants))


async def _open(loaded: LoadedBundle, server: str) -> str | None:
    try:
        async with loaded.pool.use(server):
            return None
    except UnreachableError as unreachable:
        message = redact(unreachable.failure.message, loaded.connector.secrets(server))
        return f"server '{server}': {message}"


def _drop(
    session: SessionState, loaded: LoadedBundle, servers: Iterable[str]
) -> tuple[tuple[str, ...], list[asyncio.Task[None]]]:
    """Close the servers that no session needs. Returns those that were open, and the closing tasks.

    One that does not close is logged by its pool, and nobody has to wait for it.
    """
    pool, references = loaded.pool, session.runtime.references
    unneeded = [server for server in dict.fromkeys(servers) if not references.is_needed(server)]
    was_open = frozenset(pool.servers)
    closing = [task for server in unneeded for task in pool.drop(server)]
    return tuple(sorted(server for server in unneeded if server in was_open)), closing


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


def _enabled_text(
    session: SessionState, entry: CapabilityEntry, connected: Sequence[str], deps: Sequence[DepState]
) -> str:
    if not entry.grants:
        return _deps_text(entry, deps)
    unbound = [server for server in servers_of(entry) if server not in connected]
    aliases = map(session.tools.alias, session.tools.owned(entry.name))
    if unbound and not connected:
        tools = f"none — nothing is bound to builtin server(s): {', '.join(unbound)}"
    elif all(grant.globs == ("*",) for grant in entry.grants) and not session.tools.registry.confined:
        tools = ALL_TOOLS
    else:
        tools = ", ".join(aliases) or NO_TOOLS
    missing = _listed(deps, "missing")
    absent = f"\nNot installed: {missing}" if missing else ""
    return (
        f"Capability '{entry.name}' enabled. Activated {len(connected)} server(s): {', '.join(connected)}\n"
        f"Tools available: {tools}{absent}"
    )


async def deactivate(session: SessionState, name: str) -> Change:
    """Make a capability inactive, and close the servers that no session needs any more."""
    async with session.switching.lock_of(name):
        async with session.lock:
            if name in session.tools.registry.boot:
                return _refused(f"Capability '{name}' is granted from the start and cannot be disabled.")
            if name not in session.active:
                return Change(ok=True, text=f"Capability '{name}' is not active.")
            had = _needed(session)
            own = session.runtime.references.servers_of([(session.number, name)])
            freed = _switch_off(session, name)
            gone = tuple(sorted(had - _needed(session)))
            by_others = session.runtime.references.servers_of((session.number, other) for other in session.active.names)
            _, closing = _drop(session, session.loaded, freed)
        await _closed(closing)
    # What this session needs no more: whether somebody else's keeps a server open is not for this one's model.
    if not own:
        return Change(ok=True, changed=True, text=f"Capability '{name}' disabled. It has no servers.")
    count = f"Fully shut down {len(gone)} server(s)"
    # Octomind's words where they are true: skills, boot capabilities and direct tools may need a server as well.
    kept = "(none — all servers still in use by other active capabilities)"
    if not own <= by_others:
        kept = "(none — this session still uses them)"
    text = f"Capability '{name}' disabled. {count}: {', '.join(gone) or kept}"
    return Change(ok=True, changed=True, text=text, servers=gone)


def _needed(session: SessionState) -> frozenset[str]:
    return session.runtime.references.servers_of((session.number, holder) for holder in session.holders)


async def _closed(closing: Sequence[asyncio.Task[None]]) -> None:
    import asyncio

    if closing:
        await asyncio.wait(closing)


async def begin_turn(session: SessionState) -> None:
    """Show the tools as their servers have them now, and evict what exceeds the limits because of that."""
    async with session.lock:
        evicted = evictions_over_limits(session)
        freed = [server for victim in evicted for server in _switch_off(session, victim)]
        session.tools.settle()
        _drop(session, session.loaded, freed)
    for victim in evicted:
        logger.warning("capability evicted: '%s': what is active was over the workspace's limits", victim)


async def end(session: SessionState) -> None:
    """Release all that a session needs, and cancel activations under way."""
    session.switching.ended = True
    for task in tuple(session.switching.preparing):
        task.cancel()
    for turn in session.switching.locks:
        async with turn:
            pass  # until then an activation under way has taken back what it held
    async with session.lock:
        for name in session.active.names:
            session.active.remove(name)
        session.tools.settle()
        _, closing = _drop(session, session.loaded, release_all(session))
    await _closed(closing)
