"""The state of a server for people: it runs, fails, is paused, or lacks something."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import attrs

from octoc.references import variables_needed

if TYPE_CHECKING:
    from octoc.results import FailureKind
    from octoc.runtime.loaded_bundle import LoadedBundle

HealthState = Literal["up", "idle", "starting", "failing", "paused", "missing-variable", "unbound"]
"""`idle` is not connected, which its next use changes; `paused` is an open circuit breaker."""


@attrs.frozen(kw_only=True)
class ServerHealth:
    """A server's state. It tells nothing of what a server wrote, as that may belong to another caller.

    Args:
        connections: the number of open connections.
        last_failure: the kind of the last failure; only while it is `failing` or `paused`.
        retry_s: the seconds until the breaker lets a call try it; only while it is `paused`.
        missing: the variables without a value.
    """

    server: str
    state: HealthState
    connections: int = 0
    last_failure: FailureKind | None = None
    retry_s: float = 0.0
    missing: tuple[str, ...] = ()


def health_of(loaded: LoadedBundle, server: str, lookup: Callable[[str], str | None]) -> ServerHealth:
    """Return a server's state; `lookup` returns the value of a variable, and may be slow. Raises: KeyError."""
    pool, entry = loaded.pool[server], loaded.servers[server]
    if not loaded.can_connect(server):
        return ServerHealth(server=server, state="unbound")
    seconds = pool.breaker.wait()
    if seconds is not None:
        return ServerHealth(
            server=server, state="paused", connections=pool.open, last_failure=pool.last_kind, retry_s=seconds
        )
    if pool.is_failing:
        missing = _missing(entry.reached, lookup)
        state: HealthState = "missing-variable" if missing else "failing"
        return ServerHealth(
            server=server, state=state, connections=pool.open, last_failure=pool.last_kind, missing=missing
        )
    if pool.open:
        return ServerHealth(server=server, state="up", connections=pool.open)
    missing = _missing(entry.reached, lookup)
    state = "missing-variable" if missing else "starting" if pool.is_connecting else "idle"
    return ServerHealth(server=server, state=state, missing=missing)


def _missing(definition: object, lookup: Callable[[str], str | None]) -> tuple[str, ...]:
    return tuple(name for name in sorted(variables_needed(definition)) if not lookup(name))
