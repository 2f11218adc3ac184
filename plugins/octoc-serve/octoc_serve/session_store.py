"""Client sessions between requests, limited in number and time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import attrs

from octoc.plugin import Caller
from octoc.runtime import account_of
from octoc_serve.error_boundary import error_boundary
from octoc_serve.session_shares import SessionShares

if TYPE_CHECKING:
    from octoc_serve.client_session import ClientSession


@attrs.frozen(kw_only=True)
class ClientKey:
    """Identity of a client. `session` is the MCP session id or None; `token` is the id of a token."""

    agent: str
    token: str = ""
    tenant: str | None = None
    user: str | None = None
    session: str | None = None

    @property
    def account(self) -> str:
        """The account whose share of the limits the client uses: the tenant, else the token."""
        return account_of(Caller(tenant=self.tenant, account=self.token or None))

    @property
    def label(self) -> str:
        """Return what people see of the session: a digest, as only its client may know the id; `shared` without one."""
        return "shared" if self.session is None else session_label(self.session)


def session_label(session: str) -> str:
    """Return a digest of an MCP session id, for people and logs."""
    return hashlib.sha256(session.encode()).hexdigest()[:8]


class SessionStore(Protocol):
    """Keeps client sessions; `MemorySessionStore` keeps them in this process."""

    def get(self, key: ClientKey, make: Callable[[], ClientSession]) -> ClientSession:
        """Return a client's session, created by `make` if it is missing. Raises: FullError, and as `make`."""
        ...

    def using(self, key: ClientKey) -> contextlib.AbstractContextManager[None]:
        """Keep a client's session from ending as idle during the block, even if it does not exist yet."""
        ...

    def all(self) -> tuple[ClientSession, ...]:
        """Return the sessions in this process."""
        ...

    def of(self, matches: Callable[[ClientKey], bool]) -> tuple[tuple[ClientKey, ClientSession], ...]:
        """Return the sessions of matching clients with their keys. This does not count as a use."""
        ...

    async def end(self, matches: Callable[[ClientKey], bool]) -> None:
        """End the sessions of matching clients, also those in use."""
        ...

    async def sweep(self) -> None:
        """End sessions that were idle for too long."""
        ...


class MemorySessionStore:
    """At most `most` sessions in this process, which accounts share; `idle_s` None keeps idle ones forever."""

    def __init__(self, most: int, idle_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._shares = SessionShares[ClientKey](most, clock)
        self._idle_s = idle_s
        self._clock = clock
        self._kept: dict[ClientKey, ClientSession] = {}
        self._uses: Counter[ClientKey] = Counter()
        self._ending: set[asyncio.Task[None]] = set()

    def get(self, key: ClientKey, make: Callable[[], ClientSession]) -> ClientSession:
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
    def using(self, key: ClientKey) -> Iterator[None]:
        self._uses[key] += 1
        try:
            yield
        finally:
            self._uses[key] -= 1
            if not self._uses[key]:
                del self._uses[key]
            self._shares.touch(key)

    def all(self) -> tuple[ClientSession, ...]:
        return tuple(self._kept.values())

    def of(self, matches: Callable[[ClientKey], bool]) -> tuple[tuple[ClientKey, ClientSession], ...]:
        return tuple((key, client) for key, client in self._kept.items() if matches(key))

    async def end(self, matches: Callable[[ClientKey], bool]) -> None:
        # Forgotten before the first await, so that a concurrent request starts a new session.
        gone = [self._forget(key) for key in tuple(self._kept) if matches(key)]
        for client in gone:
            await _close(client)
        if self._ending:
            await asyncio.wait(tuple(self._ending))

    async def sweep(self) -> None:
        if self._idle_s is None:
            return
        latest = self._clock() - self._idle_s
        await self.end(lambda key: key not in self._uses and self._shares.last_used(key) <= latest)

    def _forget(self, key: ClientKey) -> ClientSession:
        self._shares.discard(key)
        return self._kept.pop(key)


async def _close(client: ClientSession) -> None:
    with error_boundary("ending what a client had"):
        await client.close()
