"""Which connections of a server an account may use: shared ones, or its own if the server asks its callers questions.

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
    """Return whether the workspace says that the server asks, and its kind cannot tell whose call a question is of."""
    return any((entry.elicitation, entry.sampling, entry.roots)) and kind_of(entry.transport).per_account


def has_asked(opened: PooledConnection) -> bool:
    """Return whether the server has asked something on this connection that the host answers."""
    return bool(getattr(opened.connection, "asks", False))


def is_stale(opened: PooledConnection) -> bool:
    """Return whether the connection is to be replaced: a call without a caller may still run at the server."""
    return bool(getattr(opened.connection, "stale", False))


def _is_doubtful(opened: PooledConnection) -> bool:
    return bool(getattr(opened.connection, "abandoned", False))


def divided(
    opened: list[PooledConnection], account: str | None, *, asks: bool, most: int
) -> tuple[list[PooledConnection], list[PooledConnection]]:
    """Return the connections that an account may use now, and those that no new call may ever have.

    Where the server asks, a call gets no connection on which another one has lost its caller: a question could be of
    either. Once the server has answered that one, the connection may be used again.

    Args:
        account: for whose call it is; None makes no call, and may use any.
        asks: that the server asks its callers something: then each account has connections of its own.
        most: how many may be open at once for all accounts; above it the one that is idle the longest makes room.
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
