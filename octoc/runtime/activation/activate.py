"""Activate and deactivate capabilities of a session: connect first, and only then evict others.

A server is open while a session needs it: because an active capability has a tool of it, because direct or boot tools
are on it, or because a call reached it through the proxy, until that session ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import CapabilityEntry
from octoc.diagnostics.suggest import did_you_mean
from octoc.runtime import telemetry
from octoc.runtime.activation.eviction import evictions_for, evictions_over_limits, no_room
from octoc.runtime.activation.holding import hold, hold_base, release, release_all
from octoc.runtime.cancellation import outlast
from octoc.runtime.servers.bindings import unbound
from octoc.secrets import redact

if TYPE_CHECKING:
    from octoc.runtime.activation.dependencies import Dependencies, DepState
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.state import SessionState

logger = logging.getLogger("octoc.runtime")

ALL_TOOLS = "all tools the server exposes (list populates on first use if empty now)"
NO_TOOLS = "none — the configured allowed_tools filter excluded every tool the server reported"


@attrs.frozen(kw_only=True)
class ActivationChange:
    """The result of an activation or deactivation: a text for the model, and the servers connected or closed.

    `pending` means that the activation goes on in the background.
    """

    ok: bool
    text: str
    changed: bool = False
    servers: tuple[str, ...] = ()
    pending: bool = False


async def activate(session: SessionState, name: str, *, by_host: bool = False) -> ActivationChange:
    """Activate a capability. If a server cannot be connected, nothing is activated or evicted.

    Args:
        by_host: the host asks, which may activate capabilities that neither the model nor a message may.
    """
    with telemetry.step("octoc.activate", octoc__capability=name, gen_ai__agent__name=session.agent.name) as watched:
        change = await _activated(session, name, by_host=by_host)
        watched.note(octoc__changed=change.changed)
        if not change.ok:
            watched.failed("refused")
        return change


async def activate_soon(session: SessionState, name: str) -> ActivationChange:
    """Activate a capability; in the background if its servers have yet to start and the session waits for none."""
    entry = session.tools.capability(name)
    if session.waits or entry is None or _answer_at_once(session, name, entry) is not None:
        return await activate(session, name)
    pool = session.loaded.pool
    closed = [one for one in servers_of(entry) if session.loaded.can_connect(one) and not pool[one].open]
    if not closed and not entry.deps:
        return await activate(session, name)
    in_background(session, _activate_late(session, name))
    text = f"Capability '{name}' is being activated: its tools are there when its servers have started."
    return ActivationChange(ok=True, text=text, pending=True)


async def _activate_late(session: SessionState, name: str) -> None:
    change = await activate(session, name)
    if not change.ok:
        logger.warning("capability not auto-activated: '%s': %s", name, change.text)


def in_background(session: SessionState, work: Coroutine[Any, Any, Any]) -> None:
    """Run `work` beside the session's other work; the end of the session cancels it. Needs a running event loop."""
    task = asyncio.create_task(work, name="octoc background")
    session.switching.background.add(task)
    task.add_done_callback(session.switching.background.discard)


async def _activated(session: SessionState, name: str, *, by_host: bool) -> ActivationChange:
    # One at a time for each capability, so that a second request finds it active.
    async with session.switching.locks.setdefault(name, asyncio.Lock()):
        change = None
        while change is None:
            async with session.lock:
                entry = session.tools.capability(name, by_host=by_host)
                answer = _answer_at_once(session, name, entry)
                if answer is not None or entry is None:
                    return answer or _refused(f"Capability '{name}' not found")
                loaded = session.loaded
                # Held before connecting, so that no other session closes a server that this one waits for.
                hold(session, name, servers_of(entry))
            change = await _connect_and_switch(session, loaded, entry, by_host=by_host)
        return change


def _answer_at_once(session: SessionState, name: str, entry: CapabilityEntry | None) -> ActivationChange | None:
    """Return the change that needs no connection, or None to connect."""
    if entry is None:
        return _refused(not_found(session, name))
    if name in session.active or name in session.tools.registry.boot:
        return ActivationChange(ok=True, text=f"Capability '{name}' is already active.")
    refusal = _refusal(session, entry)
    return None if refusal is None else _refused(refusal)


def _refused(text: str) -> ActivationChange:
    return ActivationChange(ok=False, text=text)


def not_found(session: SessionState, name: str) -> str:
    """Return the text for a capability that the session cannot name, with near names."""
    near = did_you_mean(name, session.tools.switchable)
    return f"Capability '{name}' not found: {near or 'this agent has no capability of that name'}"


def domain_refusal(session: SessionState, name: str) -> str | None:
    """Return the text for a capability of other domains than the session's agent has, or None."""
    settings = session.loaded.bundle.settings
    confined = session.tools.registry.confined if settings.scoped is None else settings.scoped
    if confined or settings.mode == "production" or name in session.tools.registry.reserved:
        # Its scope may be the reason too, and capabilities out of scope do not exist for the agent.
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
    if not entry.deps and not any(map(session.loaded.can_connect, servers_of(entry))):
        return f"Capability '{entry.name}' could not be activated: {unbound(*servers_of(entry))}"
    return None if evictions_for(session, entry.name) is not None else no_room(session, entry.name)


def _session_closed(name: str) -> str:
    return f"Capability '{name}' could not be activated: the session is closed."


@attrs.frozen(kw_only=True)
class _Prepared:
    """The result of connecting: the servers that can be connected, and the text of the first problem."""

    deps: tuple[DepState, ...] = ()
    bound: tuple[str, ...] = ()
    problem: str | None = None


async def _connect_and_switch(
    session: SessionState, loaded: LoadedBundle, entry: CapabilityEntry, *, by_host: bool
) -> ActivationChange | None:
    """Connect, and then change the active set in one step; None if the session has another bundle by then."""
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
            # Decided only now, as messages and calls continued, and tools of unlisted servers are known.
            evicted = evictions_for(session, name)
            if evicted is None:
                return _refused(no_room(session, name))
            for victim in evicted:
                session.active.remove(victim)
            session.active.add(name)
            # Once, and after it is added, so that a tool that only changes its owner keeps its position.
            if evicted:
                session.tools.settle()
            session.tools.visible()
            freed = {victim: release(session, victim) for victim in evicted}
            switched = True
            # This activation is independent of skills that asked for an earlier one.
            session.skills.asked_for.pop(name, None)
    finally:
        if not switched:
            release(session, name)
            drop_unneeded(session, loaded, servers_of(entry))
    for victim, servers in freed.items():
        closing, _ = drop_unneeded(session, loaded, servers)
        logger.info("capability LRU evicted: '%s' (%d server(s) disabled to make room)", victim, len(closing))
    text = _enabled_text(session, entry, prepared.bound, prepared.deps)
    return ActivationChange(ok=True, changed=True, text=text, servers=prepared.bound)


async def _uncancelled(session: SessionState, work: Coroutine[Any, Any, _Prepared]) -> _Prepared | None:
    """Return the result of `work`; None if the session ended meanwhile, which cancels it."""
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
    """Connect all servers at the same time, within the workspace's limit; returns the first problem."""
    if not servers:
        return None
    seconds = loaded.bundle.settings.activate_timeout_s
    tasks = [asyncio.create_task(loaded.pool.connect(server), name=f"octoc open {server}") for server in servers]
    try:
        await asyncio.wait(tasks, timeout=seconds)
    finally:
        late = [server for server, task in zip(servers, tasks, strict=True) if not task.done()]
        for task in tasks:
            task.cancel()
        await outlast(tasks)
    for server, task in zip(servers, tasks, strict=True):
        if server in late:
            return f"server '{server}' was not connected within {seconds:g} s"
        if (problem := task.result()) is not None:
            return f"server '{server}': {redact(problem, loaded.connector.secrets(server))}"
    return None


def switch_off(session: SessionState, name: str) -> frozenset[str]:
    """Make a capability inactive. Returns the servers that no session needs any more."""
    session.active.remove(name)
    session.tools.settle()
    return release(session, name)


def servers_of(entry: CapabilityEntry) -> tuple[str, ...]:
    """Return the servers of a capability's grants, in its own order."""
    return tuple(dict.fromkeys(grant.server for grant in entry.grants))


def drop_unneeded(
    session: SessionState, loaded: LoadedBundle, servers: Iterable[str]
) -> tuple[tuple[str, ...], list[asyncio.Task[None]]]:
    """Close the servers that no session needs. Returns those that were open, and the closing tasks.

    Waiting for the tasks is optional; the pool logs a server that does not close.
    """
    pool, references = loaded.pool, session.runtime.references
    unneeded = [server for server in dict.fromkeys(servers) if not references.is_needed(server)]
    was_open = frozenset(pool.servers)
    closing = [task for server in unneeded for task in pool.drop(server)]
    return tuple(sorted(server for server in unneeded if server in was_open)), closing


def _listed(deps: Sequence[DepState], state: str) -> str:
    return ", ".join(str(dep) for dep in deps if dep.state == state)


def _deps_text(entry: CapabilityEntry, deps: Sequence[DepState]) -> str:
    """Return the text for a capability with only dependencies; Octomind's text if all of them are installed."""
    enabled = f"Capability '{entry.name}' enabled."
    if all(dep.state == "ready" for dep in deps):
        return f"{enabled} Installed deps: {', '.join(entry.deps)}"
    if all(dep.state == "unasked" for dep in deps):
        expected = f"It has no servers and expects these deps: {', '.join(entry.deps)}."
        return f"{enabled} {expected} octoc does not install deps: they were not run."
    headings = {"ready": "Installed deps", "missing": "Not installed", "unknown": "Not known whether installed"}
    parts = (f"{heading}: {names}." for state, heading in headings.items() if (names := _listed(deps, state)))
    return f"{enabled} It has no servers. {' '.join(parts)} octoc does not install deps: they were not run."


def _enabled_text(
    session: SessionState, entry: CapabilityEntry, connected: Sequence[str], deps: Sequence[DepState]
) -> str:
    if not entry.grants:
        return _deps_text(entry, deps)
    aliases = map(session.tools.alias, session.tools.owned(entry.name))
    if not connected:
        tools = f"none — {unbound(*servers_of(entry))}"
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


async def deactivate(session: SessionState, name: str) -> ActivationChange:
    """Make a capability inactive, and close the servers that no session needs any more."""
    async with session.switching.locks.setdefault(name, asyncio.Lock()):
        async with session.lock:
            if name in session.tools.registry.boot:
                return _refused(f"Capability '{name}' is granted from the start and cannot be disabled.")
            if name not in session.active:
                return ActivationChange(ok=True, text=f"Capability '{name}' is not active.")
            had = _needed(session)
            own = session.runtime.references.servers_of([(session.number, name)])
            freed = switch_off(session, name)
            gone = tuple(sorted(had - _needed(session)))
            by_others = session.runtime.references.servers_of((session.number, other) for other in session.active.names)
            _, closing = drop_unneeded(session, session.loaded, freed)
        if closing:
            await asyncio.wait(closing)
    # The text covers only this session; its model must not learn whether other sessions keep a server open.
    if not own:
        return ActivationChange(ok=True, changed=True, text=f"Capability '{name}' disabled. It has no servers.")
    count = f"Fully shut down {len(gone)} server(s)"
    # Octomind's words if they are true: boot capabilities and direct tools may need a server too.
    kept = "(none — all servers still in use by other active capabilities)"
    if not own <= by_others:
        kept = "(none — this session still uses them)"
    text = f"Capability '{name}' disabled. {count}: {', '.join(gone) or kept}"
    return ActivationChange(ok=True, changed=True, text=text, servers=gone)


def _needed(session: SessionState) -> frozenset[str]:
    return session.runtime.references.servers_of((session.number, holder) for holder in session.holders)


def list_in_background(session: SessionState) -> None:
    """Connect the servers whose tools are unknown, in the background."""
    if any(map(session.loaded.is_unknown, session.tools.unlisted_servers())):
        in_background(session, _list_servers(session))


async def _list_servers(session: SessionState) -> None:
    for shown_only in (True, False):
        for server, why in (await connect_unlisted(session, shown_only=shown_only)).items():
            logger.warning("server `%s` shows no tools: %s", server, why)


async def connect_unlisted(session: SessionState, *, shown_only: bool) -> dict[str, str]:
    """Connect the servers whose tools are unknown. Returns server -> why it could not be connected."""
    loaded = session.loaded
    waiting = [server for server in session.tools.unlisted_servers(shown_only=shown_only) if loaded.is_unknown(server)]
    problems = await loaded.pool.connect_all(waiting)
    hold_base(session)
    session.tools.settle()
    return problems


async def begin_turn(session: SessionState) -> None:
    """Show the tools as their servers have them now, and evict what exceeds the limits because of that."""
    async with session.lock:
        evicted = evictions_over_limits(session)
        freed = [server for victim in evicted for server in switch_off(session, victim)]
        session.tools.settle()
        drop_unneeded(session, session.loaded, freed)
    for victim in evicted:
        logger.warning("capability evicted: '%s': the active ones were over the workspace's limits", victim)


async def end(session: SessionState) -> None:
    """Release all servers of a session, and cancel running activations."""
    session.switching.ended = True
    for task in (*session.switching.preparing, *session.switching.background):
        task.cancel()
    await outlast(tuple(session.switching.background))
    for lock in tuple(session.switching.locks.values()):
        async with lock:
            pass  # by then a running activation has released what it held
    async with session.lock:
        for name in session.active.names:
            session.active.remove(name)
        session.tools.settle()
        _, closing = drop_unneeded(session, session.loaded, release_all(session))
    if closing:
        await asyncio.wait(closing)
