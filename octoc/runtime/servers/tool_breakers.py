"""Circuit breakers of one server's tools, one per account: a tool that fails for one account stops nothing else.

Resources, prompts and completions have their own.

A call that gets no answer, or a wrong one, over a healthy connection is a failure of the tool with those arguments, and
not of the server. As another account may use other arguments, each account has its own breakers.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import attrs

from octoc.runtime.servers.breaker import CircuitBreaker, Verdict
from octoc.runtime.servers.unreachable import circuit_open
from octoc.runtime.shares import account_to_evict

if TYPE_CHECKING:
    from octoc.results import FailureKind

MAX_BREAKERS = 1000
"""Breakers that are kept for one server; for one more, the account with most of them loses its oldest."""
OF_TOOL: frozenset[FailureKind] = frozenset({"timeout", "protocol", "connection_lost"})
"""Failures that count for the tool alone, while the connection is still alive."""

RequestKind = Literal["tool", "resource", "prompt", "completion"]
"""What a request to a server is for."""


@attrs.frozen
class ToolKey:
    """A tool of the server, or what else it is asked for, for one account."""

    account: str
    tool: str
    kind: RequestKind = "tool"


class ToolBreakers:
    """Keeps a breaker for each pair of tool and account with failures since its last success.

    Args:
        server: the server's name, for texts.
        failures, open_s, clock: as for `CircuitBreaker`.
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
        """Change the settings of all breakers."""
        self._settings = (failures, open_s)
        for breaker in self._kept.values():
            breaker.configure(failures, open_s)

    def check(self, key: ToolKey) -> None:
        """Raises: UnreachableError, if no call of this tool is admitted for this account now."""
        breaker = self._kept.get(key)
        if breaker is not None and (seconds := breaker.wait()) is not None:
            raise circuit_open(f"{key.kind} `{self._server}/{key.tool}`", breaker.failures, seconds)

    def admit(self, key: ToolKey) -> int:
        """Admit one call and return the number to pass to `ended`. Raises: UnreachableError."""
        self.check(key)
        breaker = self._kept.get(key)
        return 0 if breaker is None else breaker.admit()

    def ended(self, key: ToolKey, admission: int, verdict: Verdict) -> None:
        """Record how an admitted call ended; `unknown` means that its end has nothing to do with the tool."""
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
            loser = account_to_evict(self._of_account, key.account)
            self._remove(next(one for one in self._kept if one.account == loser))
        self._of_account[key.account] += 1
        breaker = self._kept[key] = CircuitBreaker(*self._settings, self._clock)
        return breaker

    def _remove(self, key: ToolKey) -> None:
        del self._kept[key]
        self._of_account[key.account] -= 1
        if not self._of_account[key.account]:
            del self._of_account[key.account]
