"""A circuit breaker: after too many failures in a row no call reaches a server for a while, then one call tries it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

Verdict = Literal["worked", "failed", "unknown"]


class CircuitOpenError(Exception):
    """The circuit is open; it lets a call through after `retry_after_s` seconds at the earliest."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"open for {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class CircuitBreaker:
    """Closed lets everything through, open nothing, half-open one call whose end decides.

    Every change of state begins a new era. What was let through in an earlier one says nothing about this one: the
    late end of a call that began before the breaker opened neither closes it nor keeps it open.

    Args:
        failures: how many in a row open it; 0 is never.
        open_s: seconds that it stays open.
        clock: seconds that never go back.
    """

    def __init__(self, failures: int, open_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._open_s = open_s
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False
        self._era = 0

    @property
    def settings(self) -> tuple[int, float]:
        """How many failures in a row open it, and for how many seconds."""
        return self._limit, self._open_s

    def configure(self, failures: int, open_s: float) -> None:
        """Change the settings; an open breaker stays open for as long as the new ones define."""
        self._limit = failures
        self._open_s = open_s
        if not failures and self._opened_at is not None:
            self._begin(None)

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        if self._opened_at is None:
            return "closed"
        return "open" if self._clock() < self._opened_at + self._open_s else "half-open"

    @property
    def failures(self) -> int:
        """How many failures in a row there were."""
        return self._failures

    def check(self) -> None:
        """Raise CircuitOpenError if no call would be let through; admits no call."""
        if self._opened_at is None:
            return
        left = self._opened_at + self._open_s - self._clock()
        if left > 0:
            raise CircuitOpenError(left)
        if self._probing:
            raise CircuitOpenError(0.0)

    def admit(self) -> int:
        """Let one call through, and return the number to pass to `ended`. Raises: CircuitOpenError."""
        self.check()
        if self._opened_at is not None:
            self._probing = True
        return self._era

    def ended(self, admission: int, verdict: Verdict) -> None:
        """Record how an admitted call ended; `unknown` says nothing about the server."""
        if admission != self._era:
            return
        if verdict == "failed":
            self.failed()
        elif verdict == "worked":
            self._failures = 0
            if self._opened_at is not None:
                self._begin(None)
        else:
            self._probing = False

    def failed(self) -> None:
        """Record a failure of the server itself, such as a failed attempt to connect."""
        self._failures += 1
        if self._opened_at is not None:
            # Still open: what failed had begun before. Half-open: the trial failed.
            if self.state == "half-open":
                self._begin(self._clock())
        elif self._limit and self._failures >= self._limit:
            self._begin(self._clock())

    def _begin(self, opened_at: float | None) -> None:
        self._opened_at = opened_at
        self._probing = False
        self._era += 1
