"""Connect the servers without a snapshot that a session may use, at the request of a host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from octoc.runtime.activation.holding import hold_base

if TYPE_CHECKING:
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.state import SessionState


async def connect_unlisted(session: SessionState, *, shown_only: bool) -> dict[str, str]:
    """Connect the servers whose tools are unknown. Returns server -> why it could not be connected."""
    loaded = session.loaded
    waiting = [server for server in session.tools.unlisted_servers(shown_only=shown_only) if loaded.is_unknown(server)]
    problems = await connect(loaded, waiting)
    hold_base(session)
    session.tools.settle()
    return problems


async def connect(loaded: LoadedBundle, servers: Sequence[str]) -> dict[str, str]:
    """Connect servers at the same time. Returns server -> why it could not be connected."""
    problems = await asyncio.gather(*map(loaded.pool.connect, servers))
    return {server: why for server, why in zip(servers, problems, strict=True) if why is not None}
