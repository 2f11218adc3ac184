"""Which capabilities a session has active, and which servers any session needs. State alone: nothing connects here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable


class ActiveSet:
    """The active capabilities of one session, at most `capacity`, in the order of their activation.

    It notes when each was last used; `octoc.runtime.activation.eviction` decides which one is evicted.
    """

    def __init__(self, capacity: int, clock: Callable[[], float], kept: Iterable[str] = ()) -> None:
        self.capacity = capacity
        self.kept: Collection[str] = frozenset(kept)
        """Capabilities that are never evicted, whether or not they are active now."""
        self._clock = clock
        self._events = 0
        self._last_used: dict[str, tuple[float, int]] = {}
        """Active capability -> the clock's reading, and a counter that orders uses within one reading."""

    @property
    def names(self) -> tuple[str, ...]:
        """The active capabilities, the first activated first."""
        return tuple(self._last_used)

    def __contains__(self, name: str) -> bool:
        return name in self._last_used

    def by_last_use(self) -> tuple[str, ...]:
        """Return the active capabilities, the least recently used first."""
        return tuple(sorted(self._last_used, key=self._last_used.__getitem__))

    def add(self, name: str) -> None:
        """Make `name` active, used just now. Raises: ValueError when it is already active, or there is no room."""
        if name in self._last_used or len(self._last_used) >= self.capacity:
            raise ValueError(f"`{name}` cannot be added to {self.names} with room for {self.capacity}")
        self._last_used[name] = self._now()

    def remove(self, name: str) -> None:
        """Make `name` inactive. Raises: KeyError when it is not active."""
        del self._last_used[name]

    def restrict_to(self, names: Iterable[str], capacity: int) -> None:
        """Make all but `names` inactive, and allow `capacity` from now on, which the rest may exceed."""
        self.capacity = capacity
        allowed = frozenset(names)
        self._last_used = {name: used for name, used in self._last_used.items() if name in allowed}

    def touch(self, names: Iterable[str]) -> None:
        """Note that the active ones among `names` were used just now."""
        now = self._now()
        for name in names:
            if name in self._last_used:
                self._last_used[name] = now

    def _now(self) -> tuple[float, int]:
        self._events += 1
        return (self._clock(), self._events)


class References:
    """Counts, over all sessions of a runtime, which holder needs which servers.

    Holders have names, so that a second release has no effect.
    """

    def __init__(self) -> None:
        self._held: dict[Hashable, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()

    def hold(self, holder: Hashable, servers: Iterable[str]) -> None:
        """Record that `holder` needs exactly `servers`, in place of those that it needed before."""
        needed = frozenset(servers)
        self._counts.update(needed)
        self.release(holder)
        self._held[holder] = needed

    def release(self, holder: Hashable) -> frozenset[str]:
        """Record that `holder` needs nothing. Returns the servers that no holder needs any more."""
        needed = self._held.pop(holder, frozenset())
        self._counts.subtract(needed)
        unneeded = frozenset(server for server in needed if not self._counts[server])
        for server in unneeded:  # so that the memory does not grow with servers that were needed once
            del self._counts[server]
        return unneeded

    def servers_of(self, holders: Iterable[Hashable]) -> frozenset[str]:
        """Return the servers that at least one of `holders` needs."""
        return frozenset(server for holder in holders for server in self._held.get(holder, ()))

    def is_needed(self, server: str) -> bool:
        """Return whether some holder needs `server`."""
        return self._counts[server] > 0
