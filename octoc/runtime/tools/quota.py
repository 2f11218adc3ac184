"""Quotas of agents and tenants over all sessions: calls and tokens within a sliding window, and calls at once.

A call counts when it is admitted, so at most `calls` begin within any window. Tokens count when the result is known: no
call begins while the tokens of the window reach the limit, and a running call may exceed it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.bundle.model import Bundle
    from octoc.bundle.organisation import Quota
    from octoc.results import ToolFailure

SLICES = 1024
"""Use within a 1024th of the window is one entry, which expires with its last use. This bounds the memory of a window,
and a call may wait up to that much longer."""
_SOON_S = 1.0
"""The wait for a refusal that depends on the end of other calls."""


@attrs.define(eq=False)
class _Slice:
    first: float
    last: float
    calls: int = 0
    tokens: int = 0


class Meter:
    """The use of one agent or one tenant. A reload may change `quota`; the recorded use stays."""

    def __init__(self, quota: Quota, clock: Callable[[], float]) -> None:
        self.quota = quota
        self.under_way = 0
        self._clock = clock
        self._slices: deque[_Slice] = deque()
        self._calls = 0
        self._tokens = 0

    def refusal(self) -> tuple[str, float] | None:
        """Return why no call may begin now, as words after a name, and the seconds until one may; or None."""
        quota = self.quota
        self._expire()
        if quota.concurrent and self.under_way >= quota.concurrent:
            return f"has {_count(quota.concurrent, 'call')} under way, and no more may be", _SOON_S
        within = f"within {quota.window_s:g} s"
        if quota.calls and self._calls >= quota.calls:
            return f"has made the {_count(quota.calls, 'call')} that it may make {within}", self._wait(
                self._calls - quota.calls, lambda one: one.calls
            )
        if quota.tokens and self._tokens >= quota.tokens:
            words = f"has had the {_count(quota.tokens, 'token')} of results that it may have {within}"
            return words, self._wait(self._tokens - quota.tokens, lambda one: one.tokens)
        return None

    def begin(self) -> None:
        """Count a call that begins."""
        self.under_way += 1
        self._calls += 1
        self._slice().calls += 1

    def end(self, tokens: int) -> None:
        """Count the end of a call, and the tokens of its result."""
        self.under_way -= 1
        if tokens:
            self._tokens += tokens
            self._slice().tokens += tokens

    def _slice(self) -> _Slice:
        now = self._clock()
        if not self._slices or now - self._slices[-1].first > self.quota.window_s / SLICES:
            self._slices.append(_Slice(now, now))
        self._slices[-1].last = now
        return self._slices[-1]

    def _expire(self) -> None:
        begins = self._clock() - self.quota.window_s
        while self._slices and self._slices[0].last <= begins:
            gone = self._slices.popleft()
            self._calls -= gone.calls
            self._tokens -= gone.tokens

    def _wait(self, over: int, size: Callable[[_Slice], int]) -> float:
        """Return the seconds, rounded up to milliseconds, until the use is below the limit."""
        for one in self._slices:
            over -= size(one)
            if over < 0:
                return (math.floor((one.last + self.quota.window_s - self._clock()) * 1000) + 1) / 1000
        return self.quota.window_s  # not reached, as all use is in a slice


class AdmittedCall:
    """An admitted call; call `end` once, however the call ends."""

    def __init__(self, meters: tuple[Meter, ...]) -> None:
        self._meters = meters
        for meter in meters:
            meter.begin()

    @property
    def counts_tokens(self) -> bool:
        """Whether a quota limits the tokens of results."""
        return any(meter.quota.tokens for meter in self._meters)

    def end(self, tokens: int = 0) -> None:
        """Record the end of the call, and the tokens of its result."""
        for meter in self._meters:
            meter.end(tokens)


class Quotas:
    """The meters of one runtime. They outlive bundles: a reload changes limits, and keeps the use."""

    def __init__(self, bundle: Bundle, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._meters: dict[tuple[str, str], Meter] = {}
        self.configure(bundle)

    def configure(self, bundle: Bundle) -> None:
        """Apply the limits of a bundle; those of agents and tenants that it does not have stay."""
        for agent in bundle.agents:
            self._set(("agent", agent.name), agent.settings.quota or bundle.settings.quota)
        for tenant in bundle.tenants:
            self._set(("tenant", tenant.name), tenant.quota)

    def _set(self, key: tuple[str, str], quota: Quota | None) -> None:
        if quota is None or not (quota.calls or quota.tokens or quota.concurrent):
            meter = self._meters.get(key)
            if meter is not None:
                # It stays, as running calls still end in it, and the next bundle may limit it again.
                meter.quota = attrs.evolve(meter.quota, calls=0, tokens=0, concurrent=0)
        elif key in self._meters:
            self._meters[key].quota = quota
        else:
            self._meters[key] = Meter(quota, self._clock)

    def admit(self, agent: str, tenant: str | None, profile: str) -> AdmittedCall | ToolFailure:
        """Admit and count a call of an agent for a tenant, or return a failure, which counts nothing."""
        meters = []
        for kind, name, who in (("agent", agent, f"agent `{agent}`"), ("tenant", tenant, f"tenant `{tenant}`")):
            meter = None if name is None else self._meters.get((kind, name))
            if meter is None:
                continue
            refused = meter.refusal()
            if refused is not None:
                from octoc.runtime.results.failures import failure

                why, wait = refused
                return failure("rate_limited", f"{who} {why}", profile=profile, retry_after_s=wait)
            meters.append(meter)
        return AdmittedCall(tuple(meters))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
