"""Connecting the servers without a snapshot that a session may use, for hosts that want to pay for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from octoc.runtime.activation.holding import hold_base
from octoc.runtime.servers.unreachable import UnreachableError

if TYPE_CHECKING:
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.state import SessionState


async def connect_unlisted(session: SessionState, *, shown_only: bool) -> dict[str, str]:
    """Connect the servers whose tools are not known yet. Returns server -> why it could not be connected."""
    loaded = session.loaded
    waiting = [server for server in session.tools.unlisted_servers(shown_only=shown_only) if loaded.is_unknown(server)]
    problems = await connect(loaded, waiting)
    hold_base(session)
    session.tools.settle()
    return problems


async def connect(loaded: LoadedBundle, servers: Sequence[str]) -> dict[str, str]:
    """Connect servers at the same time. Returns server -> why it could not be connected."""
    problems = await asyncio.gather(*(_try(loaded, server) for server in servers))
    return {server: why for server, why in zip(servers, problems, strict=True) if why is not None}


async def _try(loaded: LoadedBundle, server: str) -> str | None:
    try:
        async with loaded.pool.use(server):
            return None
    except UnreachableError as unreachable:
        return unreachable.failure.message
