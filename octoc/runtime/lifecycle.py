"""Begin sessions, and end sessions, bundles and runtimes."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from octoc.runtime.activation.active_set import ActiveSet, References
from octoc.runtime.activation.holding import hold_base
from octoc.runtime.cancellation import outlast
from octoc.runtime.catalog.session_tools import SessionTools
from octoc.runtime.state import RuntimeState, SessionState

if TYPE_CHECKING:
    from octoc.bundle.model import AgentEntry
    from octoc.caller import Caller
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.results.store import ResultStore


def begin_session(runtime: RuntimeState, agent: AgentEntry, caller: Caller) -> SessionState:
    """Return a new session of an agent. Its servers are released when it is closed or garbage-collected."""
    loaded = runtime.current
    scope = loaded.scope(agent)
    active = ActiveSet(scope.settings.max_active, runtime.clock, scope.settings.kept)
    session = SessionState(
        runtime=runtime,
        loaded=loaded,
        agent=agent,
        caller=caller,
        number=next(runtime.session_numbers),
        active=active,
        tools=SessionTools(scope, active),
    )
    runtime.sessions[session.number] = loaded
    needed = (runtime.references, runtime.results, runtime.sessions, session.number, session.holders)
    weakref.finalize(session, _forget, *needed).atexit = False
    hold_base(session)
    return session


def _forget(
    references: References, results: ResultStore, sessions: dict[int, LoadedBundle], number: int, holders: set[str]
) -> None:
    results.abandon(number)
    sessions.pop(number, None)
    for holder in tuple(holders):
        references.release((number, holder))


async def close_session(session: SessionState) -> None:
    """End a session: deactivate its capabilities, and close the servers that no other session needs."""
    from octoc.runtime.activation.activate import end

    await end(session)
    if session.loaded.has_subscriptions:
        await session.loaded.offers.subscriptions.end_session(session.number)
    session.runtime.sessions.pop(session.number, None)
    close_unused(session.runtime)
    session.runtime.results.forget(session.number)


def close_unused(runtime: RuntimeState) -> None:
    """Begin to close the older bundles that no session uses; calls under way end on their own."""
    import asyncio

    if runtime.closed:
        return
    used = set(map(id, runtime.sessions.values()))
    for loaded in [one for one in runtime.older if id(one) not in used]:
        runtime.older.remove(loaded)
        grace_s = max((server.timeout_s for server in loaded.bundle.servers), default=0.0)
        task = asyncio.create_task(loaded.close(grace_s), name="octoc end of a bundle")
        runtime.ending[task] = loaded
        task.add_done_callback(runtime.ending.pop)


async def close_runtime(runtime: RuntimeState) -> None:
    """End every connection and script, then close all bundles and stored results; idempotent."""
    import asyncio

    runtime.closed = True
    if runtime.forked:
        return
    bundles = {id(one): one for one in (runtime.current, *runtime.older, *runtime.ending.values())}
    closing = {asyncio.create_task(one.close(), name="octoc close") for one in bundles.values()}
    if "deps" in runtime.__dict__:  # otherwise no dependency was ever used
        closing.add(asyncio.create_task(runtime.deps.close(), name="octoc end of dependencies"))
    closing.update(runtime.ending)
    try:
        await outlast(closing)
    finally:
        for loaded in bundles.values():
            loaded.opened.close()
        runtime.results.close()
