"""A connection as its pool keeps it, and the protocol of the function that makes one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.plugin import Connection
    from octoc.results import FailureKind, ServerListing

CLOSE_S = 10.0
"""The limit for closing a connection that does not close itself in bounded time."""
FAULTS: frozenset[FailureKind] = frozenset({"connect_failed", "connection_lost", "timeout", "protocol"})
"""The failures that the breaker counts, as they are the server's own."""


@attrs.define(eq=False)
class PooledConnection:
    """A connection of a pool: the number of calls that use it, since when it is idle, and how it ends."""

    connection: Connection
    users: int = 0
    accounts: set[str] = attrs.field(factory=set)
    """The accounts whose calls ran on it."""
    idle_since: float = 0.0
    retired: bool = False
    death_counted: bool = False


@attrs.frozen(kw_only=True, eq=False)
class NewConnection:
    """A new connection, and the server's tools if it listed them."""

    connection: Connection
    listing: ServerListing | None = None


class Connect(Protocol):
    """Makes a connection; `first` if no other exists. Raises: UnreachableError, after closing what was started."""

    def __call__(self, entry: ServerEntry, changed: Callable[[], None], *, first: bool) -> Awaitable[NewConnection]: ...
