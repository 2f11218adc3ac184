"""The keys of one provider: fetched in the background, kept for a time, and again when a token names a new one."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from octoc_serve.error_boundary import error_boundary
from octoc_serve.oidc.discovery import FetchError, fetch_keys
from octoc_serve.oidc.key_set import KeySet

if TYPE_CHECKING:
    import jwt

    from octoc.runtime import OidcProvider

logger = logging.getLogger(__name__)

REFRESH_S = 600.0
"""Seconds after which keys are fetched again, so that one that the provider withdrew is refused."""
PAUSE_S = 10.0
"""Shortest time between two fetches that tokens with unknown keys cause."""
RETRY_S = (5.0, 15.0, 30.0, 60.0)
"""Seconds to wait after the first, the second, … failed fetch in a row."""


class ProviderKeys:
    """The keys of a provider. Only one fetch runs at a time, and a request waits for it at most `FETCH_S`."""

    def __init__(
        self,
        provider: OidcProvider,
        fetch: Callable[[OidcProvider], Awaitable[KeySet]] = fetch_keys,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = provider
        self._fetch = fetch
        self._clock = clock
        self._kept: KeySet | None = None
        self._fetched = 0.0
        self._tried: float | None = None
        self._failures = 0
        self._running: asyncio.Task[None] | None = None

    @property
    def current(self) -> KeySet | None:
        """The keys; None while there are none, and when they are older than `keep_keys_s`."""
        is_kept = self._kept is not None and self._clock() - self._fetched <= self._provider.keep_keys_s
        return self._kept if is_kept else None

    @property
    def failing(self) -> bool:
        """Whether the keys could not be fetched the last time, or have not been fetched yet."""
        return self._failures > 0 or self._kept is None

    def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key of a token, or None if it is unknown."""
        return None if self.current is None else self.current.find(key_id, algorithm)

    async def renew(self) -> None:
        """Wait for the fetch that runs, or for a new one unless there was one within `PAUSE_S`."""
        if self._running is None and (self._tried is None or self._clock() - self._tried >= PAUSE_S):
            self._start()
        if self._running is not None:
            await asyncio.wait((self._running,))

    async def keep_fresh(self) -> None:
        """Fetch the keys again and again, until cancelled."""
        try:
            while True:
                await asyncio.wait((self._running or self._start(),))
                await asyncio.sleep(self.next_s)
        finally:
            if self._running is not None:
                self._running.cancel()

    @property
    def next_s(self) -> float:
        """Seconds until the next fetch in the background."""
        if self._failures:
            return RETRY_S[min(self._failures, len(RETRY_S)) - 1]
        return min(REFRESH_S, self._provider.keep_keys_s / 2)

    def _start(self) -> asyncio.Task[None]:
        self._tried = self._clock()
        self._running = asyncio.create_task(self._once(), name="octoc serve: keys of a provider")
        return self._running

    async def _once(self) -> None:
        try:
            with error_boundary(f"fetching the keys of provider `{self._provider.name}`"):
                await self._try()
        finally:
            self._running = None

    async def _try(self) -> None:
        name, failures = self._provider.name, self._failures
        self._failures += 1  # until it has worked
        try:
            self._kept = await self._fetch(self._provider)
        except FetchError as error:
            if failures % 10 == 0:
                until = self._provider.keep_keys_s - (self._clock() - self._fetched)
                rest = f"the known ones are used for {until:.0f} s more" if self.current else "its tokens are refused"
                logger.warning("the keys of provider `%s` could not be fetched (%s): %s", name, error, rest)
            return
        if failures:
            logger.warning("the keys of provider `%s` could be fetched again", name)
        self._fetched, self._failures = self._clock(), 0
        logger.info("provider `%s` has %d keys that can be used", name, len(self._kept.keys))
