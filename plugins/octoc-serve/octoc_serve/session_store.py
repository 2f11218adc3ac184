"""What is kept of each client between its requests, bounded in number and time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import attrs

from octoc.caller import Caller
from octoc.runtime.shares import account_of
from octoc_serve.error_boundary import survived
from octoc_serve.session_shares import SessionShares

if TYPE_CHECKING:
    from octoc_serve.client_session import Served


@attrs.frozen(kw_only=True)
class Key:
    """Whose state it is. `session` is the MCP session, None where the client has none; `token` is a token's id."""

    agent: str
    token: str = ""
    tenant: str | None = None
    user: str | None = None
    session: str | None = None

    @property
    def account(self) -> str:
        """Whose shares of the gateway's limits it uses: the tenant's, else the token's."""
        return account_of(Caller(tenant=self.tenant, account=self.token or None))


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
    """States in this process; `idle_s` None is for ever. When all `most` are taken, accounts share them."""

    def __init__(self, most: int, idle_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._shares = SessionShares[Key](most, clock)
        self._idle_s = idle_s
        self._clock = clock
        self._kept: dict[Key, Served] = {}
        self._uses: Counter[Key] = Counter()
        self._ending: set[asyncio.Task[None]] = set()

    def get(self, key: Key, make: Callable[[], Served]) -> Served:
        if key not in self._kept:
            gone = self._shares.next_out(key.account, lambda one: bool(self._kept[one].under_way))
            self._kept[key] = make()
            self._shares.add(key, key.account)
            if gone is not None:
                task = asyncio.create_task(_close(self._forget(gone)), name="octoc serve: end of a state")
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        self._shares.touch(key)
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
            self._shares.touch(key)

    def all(self) -> tuple[Served, ...]:
        return tuple(self._kept.values())

    def of(self, matches: Callable[[Key], bool]) -> tuple[tuple[Key, Served], ...]:
        return tuple((key, served) for key, served in self._kept.items() if matches(key))

    async def end(self, matches: Callable[[Key], bool]) -> None:
        # Forgotten before the first wait: what asks meanwhile begins anew.
        gone = [self._forget(key) for key in tuple(self._kept) if matches(key)]
        for served in gone:
            await _close(served)
        if self._ending:
            await asyncio.wait(tuple(self._ending))

    async def sweep(self) -> None:
        if self._idle_s is None:
            return
        latest = self._clock() - self._idle_s
        await self.end(lambda key: key not in self._uses and self._shares.last_used(key) <= latest)

    def _forget(self, key: Key) -> Served:
        self._shares.discard(key)
        return self._kept.pop(key)


async def _close(served: Served) -> None:
    with survived("ending what a client had"):
        await served.close()
