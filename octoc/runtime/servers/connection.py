"""One connection of a server as its pool keeps it, and what makes one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.plugin import Connection
    from octoc.results import FailureKind, ServerListing

CLOSE_S = 10.0
"""A connection ends itself in bounded time; this is for one that does not."""
FAULTS: frozenset[FailureKind] = frozenset({"connect_failed", "connection_lost", "timeout", "protocol"})
"""The failures that are a server's own, so that the breaker counts them."""


@attrs.define(eq=False)
class PooledConnection:
    """A connection of a pool: how many calls use it, since when it is idle, and how it ends."""

    connection: Connection
    users: int = 0
    accounts: set[str] = attrs.field(factory=set)
    """Whose calls ran on it."""
    idle_since: float = 0.0
    retired: bool = False
    death_counted: bool = False


@attrs.frozen(kw_only=True, eq=False)
class NewConnection:
    """A new connection, and the server's tools if it was asked for them."""

    connection: Connection
    listing: ServerListing | None = None


class Connect(Protocol):
    """Makes a connection; `first` if there is no other. Raises: UnreachableError, with everything closed again."""

    def __call__(self, entry: ServerEntry, changed: Callable[[], None], *, first: bool) -> Awaitable[NewConnection]: ...
