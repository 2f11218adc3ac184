"""The last calls of each token, for people: names, times and outcomes, never arguments or results."""

from __future__ import annotations

from collections import OrderedDict, deque

import attrs

from octoc.plugin import RecentCall
from octoc_serve.session_store import ClientKey

MOST = 100
MOST_OWNERS = 1000


class RecentCalls:
    """The last `most` calls of each token and agent; the token that called least recently is forgotten first."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._calls: OrderedDict[ClientKey, deque[RecentCall]] = OrderedDict()

    def note(self, key: ClientKey, call: RecentCall) -> None:
        """Keep a call under its token and agent, whatever its session."""
        owner = attrs.evolve(key, session=None)
        self._calls.setdefault(owner, deque(maxlen=self._most)).append(call)
        self._calls.move_to_end(owner)
        if len(self._calls) > MOST_OWNERS:
            self._calls.popitem(last=False)

    def of(self, key: ClientKey) -> tuple[RecentCall, ...]:
        """Return the calls of a token and agent, the latest first."""
        return tuple(reversed(self._calls.get(attrs.evolve(key, session=None), ())))
