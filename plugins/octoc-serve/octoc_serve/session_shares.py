"""Which account holds which sessions, and which session ends in favour of another account."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import attrs

from octoc.runtime import gives_way

T = TypeVar("T", bound=Hashable)


class FullError(Exception):
    """The limit of sessions is reached, and the account that asks for another one holds most of them."""


@attrs.define
class _Held:
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
        self._held: dict[T, _Held] = {}
        self._counts: Counter[str] = Counter()

    def add(self, session: T, account: str) -> None:
        """Note that an account has opened a session."""
        self._held[session] = _Held(account, self._clock())
        self._counts[account] += 1

    def discard(self, session: T) -> None:
        """Note that a session has ended; one that is unknown is ignored."""
        held = self._held.pop(session, None)
        if held is None:
            return
        self._counts[held.account] -= 1
        if not self._counts[held.account]:
            del self._counts[held.account]

    def touch(self, session: T) -> None:
        """Note that a session is used; one that is unknown is ignored."""
        if session in self._held:
            self._held[session].last_used = self._clock()

    def account(self, session: T) -> str | None:
        """Return the account that opened a session; None if it is unknown."""
        held = self._held.get(session)
        return None if held is None else held.account

    def last_used(self, session: T) -> float:
        """Return when a session was last used, by the clock."""
        return self._held[session].last_used

    def next_out(self, account: str, busy: Callable[[T], bool]) -> T | None:
        """Return the session that has to end before `account` opens another one; None if there is room.

        Args:
            busy: returns whether a call of a session runs; such sessions end last.

        Raises: FullError.
        """
        if len(self._held) < self._limit:
            return None
        loser = gives_way(self._counts, account)
        if loser == account:
            own = self._counts[account]
            raise FullError(
                f"all {self._limit} sessions are taken, {own} of them by this client's tenant or token: "
                "close one or try again later"
            )
        candidates = [session for session, held in self._held.items() if held.account == loser]
        return min(candidates, key=lambda session: (busy(session), self._held[session].last_used))
