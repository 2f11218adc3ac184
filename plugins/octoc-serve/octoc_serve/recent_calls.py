"""The calls of each token and agent, for people: names, times and outcomes, never arguments or results."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable

import attrs

from octoc.plugin import CallTotals, RecentCall
from octoc_serve.session_store import ClientKey

MOST = 100
MOST_OWNERS = 1000
_PER_DECADE = 50
_LEAST_S = 1e-5


@attrs.define
class _Tally:
    """Counts of calls. Durations are counted by their logarithm, so that a tally stays small."""

    calls: int = 0
    errors: int = 0
    durations: Counter[int] = attrs.field(factory=Counter)

    def add(self, call: RecentCall) -> None:
        self.calls += 1
        self.errors += call.outcome != "ok"
        self.durations[round(_PER_DECADE * math.log10(max(call.seconds, _LEAST_S)))] += 1

    def totals(self, tool: str) -> CallTotals:
        return CallTotals(
            tool=tool, calls=self.calls, errors=self.errors, p50_s=self._quantile(0.5), p95_s=self._quantile(0.95)
        )

    def _quantile(self, share: float) -> float:
        left = math.ceil(share * self.calls)
        for place in sorted(self.durations):
            left -= self.durations[place]
            if left <= 0:
                return float(10 ** (place / _PER_DECADE))
        return 0.0


@attrs.define
class _Owner:
    calls: deque[RecentCall]
    tallies: defaultdict[str, _Tally] = attrs.field(factory=lambda: defaultdict(_Tally))


class RecentCalls:
    """The last `most` calls of each token and agent, and totals; the token that called least recently is forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._owners: OrderedDict[ClientKey, _Owner] = OrderedDict()

    def note(self, key: ClientKey, call: RecentCall) -> None:
        """Keep a call under its token and agent, whatever its session."""
        name = attrs.evolve(key, session=None)
        owner = self._owners.get(name)
        if owner is None:
            owner = self._owners[name] = _Owner(deque(maxlen=self._most))
        owner.calls.append(call)
        owner.tallies[call.tool].add(call)
        self._owners.move_to_end(name)
        if len(self._owners) > MOST_OWNERS:
            self._owners.popitem(last=False)

    def of(self, key: ClientKey) -> tuple[RecentCall, ...]:
        """Return the calls of a token and agent, the latest first."""
        owner = self._owners.get(attrs.evolve(key, session=None))
        return () if owner is None else tuple(reversed(owner.calls))

    def totals(self, key: ClientKey) -> tuple[CallTotals, tuple[CallTotals, ...]]:
        """Return the totals of a token and agent, and those of each tool, the most called first."""
        owner = self._owners.get(attrs.evolve(key, session=None))
        tallies = {} if owner is None else owner.tallies
        by_tool = [tally.totals(tool) for tool, tally in tallies.items()]
        return _sum(tallies.values()).totals(""), tuple(sorted(by_tool, key=lambda one: (-one.calls, one.tool)))


def _sum(tallies: Iterable[_Tally]) -> _Tally:
    total = _Tally()
    for tally in tallies:
        total.calls += tally.calls
        total.errors += tally.errors
        total.durations.update(tally.durations)
    return total
