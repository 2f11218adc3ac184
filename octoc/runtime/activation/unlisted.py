"""Connecting the servers without a snapshot that a session may use, for hosts that want to pay for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.runtime.servers.unreachable import Unreachable

if TYPE_CHECKING:
    from octoc.runtime.loaded_bundle import Generation
    from octoc.runtime.session import Session


async def connect_unlisted(session: Session, *, shown_only: bool) -> dict[str, str]:
    """Connect what is not known yet; returns server -> why it could not be connected."""
    import asyncio

    generation = session.generation
    waiting = [
        server
        for server in session.surface.unlisted_servers(shown_only=shown_only)
        if not generation.servers[server].listed
        and not generation.catalog.has_joined(server)
        and generation.can_connect(server)
    ]
    problems = await asyncio.gather(*(_try(generation, server) for server in waiting))
    session.hold_base()
    session.surface.settle()
    return {server: why for server, why in zip(waiting, problems, strict=True) if why is not None}


async def _try(generation: Generation, server: str) -> str | None:
    try:
        async with generation.pool.use(server):
            return None
    except Unreachable as unreachable:
        return unreachable.failure.message
