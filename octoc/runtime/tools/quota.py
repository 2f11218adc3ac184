"""How much agents and tenants may use: calls and tokens within a sliding window, and calls at once, over all sessions.

A call is counted when it is let through, so at most `calls` begin within any window. Tokens are known when a result is:
no call begins while those of the window have reached the limit, and one that is under way may go over it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.bundle.model import Bundle, Quota
    from octoc.results import ToolFailure

SLICES = 1024
"""What is used within a 1024th of the window is counted as one, and expires with the last of it: so a window takes a
bounded space, and a call may have to wait for so much longer."""
_SOON_S = 1.0
"""When to try again where that depends on when other calls end."""


@attrs.define(eq=False)
class _Slice:
    first: float
    last: float
    calls: int = 0
    tokens: int = 0


class Meter:
    """What one agent or one tenant has used. `quota` may be another after a reload; what was used stays."""

    def __init__(self, quota: Quota, clock: Callable[[], float]) -> None:
        self.quota = quota
        self.under_way = 0
        self._clock = clock
        self._slices: deque[_Slice] = deque()
        self._calls = 0
        self._tokens = 0

    def refusal(self) -> tuple[str, float] | None:
        """Return why no call may begin now, in words behind a name, and after how many seconds one may; or None."""
        quota = self.quota
        self._expire()
        if quota.concurrent and self.under_way >= quota.concurrent:
            return f"has {_count(quota.concurrent, 'call')} under way, and no more may be", _SOON_S
        within = f"within {quota.window_s:g} s"
        if quota.calls and self._calls >= quota.calls:
            return f"has made the {_count(quota.calls, 'call')} that it may make {within}", self._wait_for_calls()
        if quota.tokens and self._tokens >= quota.tokens:
            words = f"has had the {_count(quota.tokens, 'token')} of results that it may have {within}"
            return words, self._wait_for_tokens()
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

    def _wait_for_calls(self) -> float:
        return self._wait(self._calls - self.quota.calls, lambda one: one.calls)

    def _wait_for_tokens(self) -> float:
        return self._wait(self._tokens - self.quota.tokens, lambda one: one.tokens)

    def _wait(self, over: int, size: Callable[[_Slice], int]) -> float:
        """Return the seconds, to the next millisecond, after which less than the limit is left."""
        for one in self._slices:
            over -= size(one)
            if over < 0:
                return (math.floor((one.last + self.quota.window_s - self._clock()) * 1000) + 1) / 1000
        return self.quota.window_s  # not reached: what is counted is in a slice


class Admission:
    """A call that was let through; `end` it once, however it ends."""

    def __init__(self, meters: tuple[Meter, ...]) -> None:
        self._meters = meters
        for meter in meters:
            meter.begin()

    @property
    def counts_tokens(self) -> bool:
        """Whether anybody wants to know how long the result is."""
        return any(meter.quota.tokens for meter in self._meters)

    def end(self, tokens: int = 0) -> None:
        """Note that the call is over, and the tokens of its result."""
        for meter in self._meters:
            meter.end(tokens)


class Quotas:
    """The meters of one runtime. They outlive bundles: a reload changes limits, and forgets nothing."""

    def __init__(self, bundle: Bundle, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._meters: dict[tuple[str, str], Meter] = {}
        self.configure(bundle)

    def configure(self, bundle: Bundle) -> None:
        """Take the limits of a bundle; those of agents and tenants that it does not have stay."""
        for agent in bundle.agents:
            self._set(("agent", agent.name), agent.settings.quota or bundle.settings.quota)
        for tenant in bundle.tenants:
            self._set(("tenant", tenant.name), tenant.quota)

    def _set(self, key: tuple[str, str], quota: Quota | None) -> None:
        if quota is None or not (quota.calls or quota.tokens or quota.concurrent):
            meter = self._meters.get(key)
            if meter is not None:
                # Not dropped: calls under way still end in it, and the next bundle may limit it again.
                meter.quota = attrs.evolve(meter.quota, calls=0, tokens=0, concurrent=0)
        elif key in self._meters:
            self._meters[key].quota = quota
        else:
            self._meters[key] = Meter(quota, self._clock)

    def admit(self, agent: str, tenant: str | None, profile: str) -> Admission | ToolFailure:
        """Let a call of an agent for a tenant through, and count it; or return why not, which counts nothing."""
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
        return Admission(tuple(meters))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
