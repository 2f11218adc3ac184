"""Which capabilities a session has active, and which servers any session needs. State alone: nothing connects here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

import attrs

Fits = Callable[[Sequence[str]], bool]
"""Whether these capabilities may be active together, apart from their number."""


def _anything_fits(_: Sequence[str]) -> bool:
    return True


@attrs.define(kw_only=True, eq=False)
class _Active:
    last_used: tuple[float, int]


class ActiveSet:
    """The active capabilities of one session, at most `capacity`, in the order of their activation.

    The least recently used gives way, and what is pinned never. Time is the clock that was passed in; a counter orders
    what happens within one reading of it.
    """

    def __init__(self, capacity: int, clock: Callable[[], float], pinned: Iterable[str] = ()) -> None:
        self.capacity = capacity
        self.pinned: Collection[str] = frozenset(pinned)
        """Capabilities that never give way, whether or not they are active now."""
        self._clock = clock
        self._events = 0
        self._active: dict[str, _Active] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The active capabilities, the first activated first."""
        return tuple(self._active)

    def __contains__(self, name: str) -> bool:
        return name in self._active

    def making_room(self, name: str, fits: Fits = _anything_fits) -> tuple[str, ...] | None:
        """Return what has to be evicted for `name`, the least recently used first; None if no eviction helps."""
        return self._giving_way((name,), fits)

    def surplus(self, fits: Fits = _anything_fits) -> tuple[str, ...]:
        """Return what has to be evicted because the limits or the tools changed.

        What is pinned stays, even over the limits.
        """
        needed = self._giving_way((), fits)
        return self._by_use() if needed is None else needed

    def _giving_way(self, coming: tuple[str, ...], fits: Fits) -> tuple[str, ...] | None:
        """Return the fewest capabilities, least recently used first, without which the others and `coming` fit."""
        candidates = self._by_use()
        for count in range(len(candidates) + 1):
            gone = candidates[:count]
            left = [*(name for name in self._active if name not in gone), *coming]
            if len(left) <= self.capacity and fits(left):
                return gone
        return None

    def _by_use(self) -> tuple[str, ...]:
        loose = (name for name in self._active if name not in self.pinned)
        return tuple(sorted(loose, key=lambda name: self._active[name].last_used))

    def add(self, name: str) -> None:
        """Make `name` active, used just now. Raises: ValueError when it is already active, or there is no room."""
        if name in self._active or len(self._active) >= self.capacity:
            raise ValueError(f"`{name}` cannot be added to {self.names} with room for {self.capacity}")
        self._active[name] = _Active(last_used=self._now())

    def remove(self, name: str) -> None:
        """Make `name` inactive. Raises: KeyError when it is not active."""
        del self._active[name]

    def keep(self, names: Iterable[str], capacity: int) -> None:
        """Keep only those among `names`, with room for `capacity` from now on: `surplus` tells what is too much."""
        self.capacity = capacity
        wanted = frozenset(names)
        self._active = {name: active for name, active in self._active.items() if name in wanted}

    def touch(self, names: Iterable[str]) -> None:
        """Note that the active ones among `names` were used just now."""
        now = self._now()
        for name in names:
            if name in self._active:
                self._active[name].last_used = now

    def _now(self) -> tuple[float, int]:
        self._events += 1
        return (self._clock(), self._events)


Use = tuple[str, str]
"""(server, tool): one thing that a holder needs; the tool is `*` where a server's tools are not known yet."""


class References:
    """Counts over all sessions of a runtime which holder needs which tool of which server.

    A server is needed while one of its tools is. Holders are named, so that letting go twice counts once.
    """

    def __init__(self) -> None:
        self._held: dict[Hashable, frozenset[Use]] = {}
        self._uses: Counter[Use] = Counter()
        self._servers: Counter[str] = Counter()

    def hold(self, holder: Hashable, uses: Iterable[Use]) -> None:
        """Record that `holder` needs exactly `uses`, in place of what it needed before."""
        held = frozenset(uses)
        self._uses.update(held)
        self._servers.update(server for server, _ in held)
        self.release(holder)
        self._held[holder] = held

    def release(self, holder: Hashable) -> frozenset[str]:
        """Record that `holder` needs nothing. Returns the servers that no holder needs any more."""
        held = self._held.pop(holder, frozenset())
        servers = {server for server, _ in held}
        for use in held:
            _less(self._uses, use)
            _less(self._servers, use[0])
        return frozenset(server for server in servers if not self.is_needed(server))

    def servers_of(self, holders: Iterable[Hashable]) -> frozenset[str]:
        """Return the servers that at least one of `holders` needs."""
        return frozenset(server for holder in holders for server, _ in self._held.get(holder, ()))

    def is_needed(self, server: str) -> bool:
        """Return whether some holder needs a tool of `server`."""
        return self._servers[server] > 0

    def count(self, server: str, tool: str) -> int:
        """Return how many holders need this tool."""
        return self._uses[server, tool]


def _less(counts: Counter[Any], key: Hashable) -> None:
    # What is 0 goes, so that the counts are as many as what is needed, and no longer as what ever was.
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
