"""Which account holds which sessions, and which session ends in favour of another account."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import attrs

from octoc.runtime import account_to_evict

T = TypeVar("T", bound=Hashable)


class SessionLimitError(Exception):
    """The limit of sessions is reached, and the account that asks for another one holds most of them."""


@attrs.define
class _Entry:
    account: str
    last_used: float


class SessionShares(Generic[T]):
    """At most `limit` sessions. When all are taken, the account that holds most ends the one it used least recently.

    Args:
        limit: how many sessions there are at most.
        clock: monotonic seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._entries: dict[T, _Entry] = {}
        self._counts: Counter[str] = Counter()

    def add(self, session: T, account: str) -> None:
        """Note that an account has opened a session."""
        self._entries[session] = _Entry(account, self._clock())
        self._counts[account] += 1

    def discard(self, session: T) -> None:
        """Note that a session has ended; one that is unknown is ignored."""
        entry = self._entries.pop(session, None)
        if entry is None:
            return
        self._counts[entry.account] -= 1
        if not self._counts[entry.account]:
            del self._counts[entry.account]

    def touch(self, session: T) -> None:
        """Note that a session is used; one that is unknown is ignored."""
        if session in self._entries:
            self._entries[session].last_used = self._clock()

    def account(self, session: T) -> str | None:
        """Return the account that opened a session; None if it is unknown."""
        entry = self._entries.get(session)
        return None if entry is None else entry.account

    def last_used(self, session: T) -> float:
        """Return when a session was last used, by the clock."""
        return self._entries[session].last_used

    def next_out(self, account: str, busy: Callable[[T], bool]) -> T | None:
        """Return the session that has to end before `account` opens another one; None if there is room.

        Args:
            busy: returns whether a call of a session runs; such sessions end last.

        Raises: FullError.
        """
        if len(self._entries) < self._limit:
            return None
        loser = account_to_evict(self._counts, account)
        if loser == account:
            own = self._counts[account]
            raise SessionLimitError(
                f"all {self._limit} sessions are taken, {own} of them by this client's tenant or token: "
                "close one or try again later"
            )
        candidates = [session for session, entry in self._entries.items() if entry.account == loser]
        return min(candidates, key=lambda session: (busy(session), self._entries[session].last_used))
