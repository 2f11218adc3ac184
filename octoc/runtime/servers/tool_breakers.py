"""Circuit breakers of one server's tools, one per account: a tool that fails for one account stops nothing else.

A call that a healthy connection did not answer, or answered wrongly, says something about the tool and the arguments,
not about the server. As another account may use other arguments, each account has breakers of its own.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from octoc.runtime.servers.breaker import CircuitBreaker, CircuitOpenError
from octoc.runtime.servers.unreachable import unreachable
from octoc.runtime.shares import gives_way

if TYPE_CHECKING:
    from octoc.results import FailureKind
    from octoc.runtime.servers.breaker import Verdict

MAX_BREAKERS = 1000
"""Breakers that are kept for one server; with one more, the account that has most loses its oldest."""
OF_TOOL: frozenset[FailureKind] = frozenset({"timeout", "protocol", "connection_lost"})
"""Failures that count for the tool alone, while the connection is still alive."""


@attrs.frozen
class ToolKey:
    """A tool of the server, for one account."""

    account: str
    tool: str


class ToolBreakers:
    """Keeps a breaker for each tool and account with failures since their last success, and for no other.

    Args:
        server: the server's name, for texts.
        failures, open_s, clock: as `CircuitBreaker` has them.
    """

    def __init__(self, server: str, failures: int, open_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._settings = (failures, open_s)
        self._clock = clock
        self._kept: OrderedDict[ToolKey, CircuitBreaker] = OrderedDict()
        self._of_account: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._kept)

    def configure(self, failures: int, open_s: float) -> None:
        """Take other settings from now on."""
        self._settings = (failures, open_s)
        for breaker in self._kept.values():
            breaker.configure(failures, open_s)

    def check(self, key: ToolKey) -> None:
        """Raises: UnreachableError, when no call of this tool would be let through for this account."""
        breaker = self._kept.get(key)
        if breaker is not None:
            try:
                breaker.check()
            except CircuitOpenError as refused:
                seconds = refused.retry_after_s
                when = f"circuit open for {seconds:.0f} s" if seconds else "another call is trying it now"
                message = f"tool `{self._server}/{key.tool}` failed {breaker.failures} times in a row; {when}"
                raise unreachable("unavailable", message, retry_after_s=max(seconds, 1.0), final=True) from None

    def admit(self, key: ToolKey) -> int:
        """Let one call through; return the number to give to `ended`. Raises: UnreachableError."""
        self.check(key)
        breaker = self._kept.get(key)
        return 0 if breaker is None else breaker.admit()

    def ended(self, key: ToolKey, admission: int, verdict: Verdict) -> None:
        """Note how a call ended that was let through; `unknown` says nothing about the tool."""
        breaker = self._kept.get(key)
        if breaker is None:
            if verdict != "failed" or not self._settings[0]:
                return
            breaker = self._add(key)
        breaker.ended(admission, verdict)
        if breaker.state == "closed" and not breaker.failures:
            self._remove(key)

    def _add(self, key: ToolKey) -> CircuitBreaker:
        if len(self._kept) >= MAX_BREAKERS:
            loser = gives_way(self._of_account, key.account)
            self._remove(next(one for one in self._kept if one.account == loser))
        self._of_account[key.account] += 1
        breaker = self._kept[key] = CircuitBreaker(*self._settings, self._clock)
        return breaker

    def _remove(self, key: ToolKey) -> None:
        del self._kept[key]
        self._of_account[key.account] -= 1
        if not self._of_account[key.account]:
            del self._of_account[key.account]
