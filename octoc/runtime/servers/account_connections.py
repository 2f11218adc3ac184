"""The connections of a server that an account may use: shared ones, or its own if the server asks questions.

An account is a tenant; without a tenant it is what the host names, such as a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from octoc.bundle.model import ServerEntry
    from octoc.runtime.servers.connection import PooledConnection
    from octoc.transport_kinds import TransportKind


def says_it_asks(entry: ServerEntry, kind_of: Callable[[str], TransportKind]) -> bool:
    """Return whether the workspace lets the server ask, and its kind cannot tell to which call a question belongs."""
    return any((entry.elicitation, entry.sampling, entry.roots)) and kind_of(entry.transport).per_account


def has_asked(opened: PooledConnection) -> bool:
    """Return whether the server has asked the host a question on this connection."""
    return bool(getattr(opened.connection, "asks", False))


def is_stale(opened: PooledConnection) -> bool:
    """Return whether the connection must be replaced: a call without a caller may still run at the server."""
    return bool(getattr(opened.connection, "stale", False))


def _is_doubtful(opened: PooledConnection) -> bool:
    return bool(getattr(opened.connection, "abandoned", False))


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
    unusable = [one for one in opened if is_stale(one) or (asks and len(one.accounts) > 1)]
    kept = [one for one in opened if one not in unusable]
    if not asks or account is None:
        return kept, unusable
    usable = [one for one in kept if one.accounts <= {account} and not _is_doubtful(one)]
    idle = [one for one in kept if not one.users]
    if not usable and idle and len(kept) >= max(1, most):
        unusable.append(min(idle, key=lambda one: one.idle_since))
    return usable, unusable
