"""A connection as its pool keeps it, the protocol of the function that makes one, and who may use one.

An account, which is a tenant or what the host names instead, such as a token, uses shared connections, or its own if
the server asks its callers questions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.plugin import Connection
    from octoc.results import FailureKind, ServerListing
    from octoc.transport_kinds import TransportKind

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

    @property
    def has_asked(self) -> bool:
        """Whether the server has asked the host a question on this connection."""
        return bool(getattr(self.connection, "asks", False))

    @property
    def is_stale(self) -> bool:
        """Whether it must be replaced: a call without a caller may still run at the server."""
        return bool(getattr(self.connection, "stale", False))

    @property
    def is_abandoned(self) -> bool:
        """Whether a call on it lost its caller, so that a question could belong to either call."""
        return bool(getattr(self.connection, "abandoned", False))


@attrs.frozen(kw_only=True, eq=False)
class NewConnection:
    """A new connection, and the server's tools if it listed them."""

    connection: Connection
    listing: ServerListing | None = None


class Connect(Protocol):
    """Makes a connection; `first` if no other exists. Raises: UnreachableError, after closing what was started."""

    def __call__(self, entry: ServerEntry, changed: Callable[[], None], *, first: bool) -> Awaitable[NewConnection]: ...


def says_it_asks(entry: ServerEntry, kind_of: Callable[[str], TransportKind]) -> bool:
    """Return whether the workspace lets the server ask, and its kind cannot tell to which call a question belongs."""
    return any((entry.elicitation, entry.sampling, entry.roots)) and kind_of(entry.transport).per_account


def divided(
    opened: list[PooledConnection], account: str | None, *, asks: bool, most: int
) -> tuple[list[PooledConnection], list[PooledConnection]]:
    """Return the connections that an account may use now, and those that no new call may use again.

    If the server asks questions, a call does not get a connection on which another call has lost its caller, since a
    question could belong to either. The connection is usable again when the server has answered that call.

    Args:
        account: the account whose call it is; None without a call, which may use any connection.
        asks: the server asks its callers questions, so each account has its own connections.
        most: the number of open connections for all accounts; above it the one that is idle longest makes room.
    """
    unusable = [one for one in opened if one.is_stale or (asks and len(one.accounts) > 1)]
    kept = [one for one in opened if one not in unusable]
    if not asks or account is None:
        return kept, unusable
    usable = [one for one in kept if one.accounts <= {account} and not one.is_abandoned]
    idle = [one for one in kept if not one.users]
    if not usable and idle and len(kept) >= max(1, most):
        unusable.append(min(idle, key=lambda one: one.idle_since))
    return usable, unusable
