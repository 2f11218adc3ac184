"""Another bundle in place of the one that runs: opened aside, swapped at once, each session follows when it can."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.model import AgentEntry
from octoc.bundle.reader import OpenBundle
from octoc.runtime.activation.activate import uses_of
from octoc.runtime.loaded_bundle import Generation
from octoc.runtime.results.cutting import is_readable
from octoc.runtime.servers.unreachable import Unreachable
from octoc.runtime.values import UnknownNameError

if TYPE_CHECKING:
    from octoc.runtime.activation.active_set import Use
    from octoc.runtime.runtime import Runtime
    from octoc.runtime.session import Session

logger = logging.getLogger("octoc.runtime")


async def reload(runtime: Runtime, path: str | Path) -> None:
    """Make the bundle at `path` the one that new sessions use. Raises: BundleRefused, and the old one stays."""
    import asyncio

    # All of it is verified and decoded now, in a thread: what is swapped in must not turn out to be damaged.
    opened = await asyncio.to_thread(OpenBundle.open, path, "full", in_memory=runtime.in_memory)
    if runtime.closed:
        opened.close()
        raise RuntimeError("the runtime is closed")
    old = runtime.generation
    encoder = opened.bundle.encoder
    embedder = runtime.embedder or (None if encoder is None else old.routing.embedder_like(encoder.identity))
    new = Generation(runtime, opened, runtime.plugins_for(opened.bundle), embedder, previous=old)
    for server, connection in runtime.bound_servers():
        entry = new.servers.get(server)
        if entry is not None and not entry.listed:
            new.catalog.join(entry, connection.listing())
    runtime.generation = new
    runtime.quotas.configure(new.bundle)
    kept = new.bundle.settings.results
    runtime.results.resize(memory_bytes=kept.store_memory_bytes, disk_bytes=kept.store_disk_bytes, seconds=kept.store_s)
    runtime.older.append(old)
    logger.info("bundle `%s` replaces the one before: inputs %s", new.bundle.name, new.bundle.inputs[:12] or "unknown")
    runtime.sweep()


async def renew(session: Session) -> None:
    """Let a session go on with the runtime's bundle; what is active stays active where it still exists.

    One whose agent the new bundle does not have for its tenant goes over, too, and has nothing there.

    Raises: UnknownNameError for such a session.
    """
    runtime = session.runtime
    if session.generation is not runtime.generation:
        await _go_over(session)
    if session.is_revoked:
        raise UnknownNameError("agent", session.agent.name, runtime.generation.agents_of(session.caller.tenant))


async def _go_over(session: Session) -> None:
    runtime = session.runtime
    async with session.lock:
        old, new = session.generation, runtime.generation
        if old is new:
            return
        agent = new.agent_of(session.agent.name, session.caller.tenant)
        if agent is None:
            logger.warning("agent `%s` is not in the new bundle: its session has nothing any more", session.agent.name)
            agent = AgentEntry(name=session.agent.name, kind=session.agent.kind)
        freed = session.move(new, agent)
        # What octoc's own tools gave tells of the old registry, as does a result of which nobody knows the tool.
        runtime.results.forget(session.key, lambda source: source is None or not is_readable(session, source))
        for name in session.active.names:
            session.hold(name, _uses(session, name))
        for server in freed:
            if not runtime.references.is_needed(server):
                old.pool.drop(server)
    # Not under the lock: what connects may take its time, and calls and activations go on.
    await _connect_unlisted(session)
    runtime.sweep()


def _uses(session: Session, name: str) -> list[Use]:
    entry = session.surface.capability(name)
    return [] if entry is None else uses_of(session, entry)


async def _connect_unlisted(session: Session) -> None:
    """Connect what active capabilities have tools of that nobody knows in the new bundle."""
    import asyncio

    generation = session.generation
    entries = map(session.surface.capability, session.active.names)
    grants = (grant for entry in entries if entry is not None for grant in entry.grants)
    waiting = [
        server
        for server in dict.fromkeys(grant.server for grant in grants)
        if generation.can_connect(server)
        and not generation.servers[server].listed
        and not generation.catalog.has_joined(server)
    ]
    await asyncio.gather(*(_try(generation, server) for server in waiting))
    if session.generation is generation:
        for name in session.active.names:
            session.hold(name, _uses(session, name))
    for server in waiting:
        # What it was connected for may have been deactivated meanwhile.
        if not session.runtime.references.is_needed(server):
            generation.pool.drop(server)


async def _try(generation: Generation, server: str) -> None:
    try:
        async with generation.pool.use(server):
            return
    except Unreachable as unreachable:
        logger.warning("after a reload server `%s` is not there: %s", server, unreachable.failure.message)
