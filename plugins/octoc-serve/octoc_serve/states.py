"""What is kept of each client between its requests, bounded in number and time."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import attrs

from octoc_serve.bugs import survived

if TYPE_CHECKING:
    from octoc_serve.served import Served


@attrs.frozen(kw_only=True)
class Key:
    """Whose state it is. `session` is the MCP session, None where the client has none; `token` is a token's id."""

    agent: str
    token: str = ""
    tenant: str | None = None
    user: str | None = None
    session: str | None = None


class FullError(Exception):
    """As many states are kept as may be."""


class States(Protocol):
    """Keeps what clients have active; the in-memory one is `MemoryStates`."""

    def get(self, key: Key, make: Callable[[], Served]) -> Served:
        """Return a client's state, made when it is not there. Raises: FullError, and what `make` raises."""
        ...

    def using(self, key: Key) -> contextlib.AbstractContextManager[None]:
        """Keep a client's state from ending while something is under way for it, whether it is there yet or not."""
        ...

    def all(self) -> tuple[Served, ...]:
        """Return the states that this process has."""
        ...

    def of(self, matches: Callable[[Key], bool]) -> tuple[tuple[Key, Served], ...]:
        """Return those of these clients, with whose they are; none is used by being looked at."""
        ...

    async def end(self, matches: Callable[[Key], bool]) -> None:
        """End the states of these clients, also those in use."""
        ...

    async def sweep(self) -> None:
        """End what has not been used for too long."""
        ...


class MemoryStates:
    """States in this process; `idle_s` None is for ever."""

    def __init__(self, most: int, idle_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._kept: dict[Key, Served] = {}
        self._last: dict[Key, float] = {}
        self._uses: Counter[Key] = Counter()

    def get(self, key: Key, make: Callable[[], Served]) -> Served:
        if key not in self._kept:
            if len(self._kept) >= self._most:
                raise FullError(f"{self._most} clients have a session: try again when one has ended")
            self._kept[key] = make()
        self._last[key] = self._clock()
        return self._kept[key]

    @contextlib.contextmanager
    def using(self, key: Key) -> Iterator[None]:
        self._uses[key] += 1
        try:
            yield
        finally:
            self._uses[key] -= 1
            if not self._uses[key]:
                del self._uses[key]
            if key in self._kept:
                self._last[key] = self._clock()

    def all(self) -> tuple[Served, ...]:
        return tuple(self._kept.values())

    def of(self, matches: Callable[[Key], bool]) -> tuple[tuple[Key, Served], ...]:
        return tuple((key, served) for key, served in self._kept.items() if matches(key))

    async def end(self, matches: Callable[[Key], bool]) -> None:
        # Forgotten before the first wait: what asks meanwhile begins anew.
        gone = [self._forget(key) for key in tuple(self._kept) if matches(key)]
        for served in gone:
            with survived("ending what a client had"):
                await served.close()

    async def sweep(self) -> None:
        if self._idle_s is None:
            return
        latest = self._clock() - self._idle_s
        await self.end(lambda key: key not in self._uses and self._last[key] <= latest)

    def _forget(self, key: Key) -> Served:
        self._last.pop(key, None)
        return self._kept.pop(key)
