"""A circuit breaker: after too many failures in a row no call reaches a server for a time, then one call tries it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

Verdict = Literal["worked", "failed", "unknown"]


class CircuitBreaker:
    """A closed breaker admits every call, an open one no call, a half-open one a single call, whose end decides.

    Each change of state begins a new era, and the end of a call counts only in the era in which it was admitted. So a
    call that began before the breaker opened neither closes it nor keeps it open.

    Args:
        failures: the number of failures in a row that opens it; 0 never opens it.
        open_s: the seconds for which it stays open.
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
        """The number of failures in a row that opens it, and the seconds for which it stays open."""
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
        """The number of failures in a row so far."""
        return self._failures

    def wait(self) -> float | None:
        """Return None if a call may be admitted now, else the seconds for which it is open, 0.0 during a trial call."""
        if self._opened_at is None:
            return None
        left = max(self._opened_at + self._open_s - self._clock(), 0.0)
        return left if left or self._probing else None

    def admit(self) -> int:
        """Admit one call, after `wait` returned None, and return the number to pass to `ended`."""
        self._probing = self._opened_at is not None
        return self._era

    def ended(self, admission: int, verdict: Verdict) -> None:
        """Record how an admitted call ended; `unknown` means that its end has nothing to do with the server."""
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
            # A failure of a call from before the breaker opened changes nothing; that of the trial opens it again.
            if self.state == "half-open":
                self._begin(self._clock())
        elif self._limit and self._failures >= self._limit:
            self._begin(self._clock())

    def _begin(self, opened_at: float | None) -> None:
        self._opened_at = opened_at
        self._probing = False
        self._era += 1
