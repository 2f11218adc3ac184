"""This gateway as one of several replicas: keeps its sessions in step with the shared store, and hears of changes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from octoc.plugin import PluginError, load_plugins
from octoc.plugin.toolkit import install_command
from octoc_serve.error_boundary import error_boundary
from octoc_serve.session_keys import SessionKeys, ValueCipher
from octoc_serve.session_sync import SessionSync
from octoc_serve.settings import GatewayError, GatewaySettings
from octoc_serve.shared_results import StoredResults
from octoc_serve.shared_store import SharedStore

if TYPE_CHECKING:
    from octoc.runtime import Runtime, Session
    from octoc_serve.session_store import ClientKey

logger = logging.getLogger(__name__)

CHANGES = "changes"
"""The channel of changed records. A message is the id of the replica that wrote, a space, and the record's key."""
STORES = "store-redis"
"""The plugin with stores that the gateway asks besides those of its bundle."""
NO_SCHEME = "the address of a store begins with a scheme, such as `redis://`"
RETRY_S = 1.0
"""Seconds between two attempts to listen to messages."""


def opened_store(settings: GatewaySettings, runtime: Runtime, keys: SessionKeys | None) -> SharedStore | None:
    """Return the store of the settings, which nothing has connected to yet; None for none. Raises: GatewayError."""
    if settings.store is None:
        return None
    scheme = settings.store.partition("://")[0]
    if settings.encrypt_store and keys is None:
        raise GatewayError("--encrypt-store needs keys", "--session-keys names a file of keys")
    try:
        backend = runtime.plugins.make_store(settings.store) or load_plugins([STORES]).make_store(settings.store)
    except PluginError as refused:
        raise GatewayError(str(refused)) from None
    if backend is None:
        known = f"`{install_command('octoc-store-redis')}` brings `redis`, `rediss` and `unix`"
        raise GatewayError(f"no plugin has a store for `{scheme}`" if scheme != settings.store else NO_SCHEME, known)
    return SharedStore(backend, ValueCipher(keys) if settings.encrypt_store and keys is not None else None)


class Replicas:
    """What this replica shares with the others.

    Args:
        idle_s: seconds that a session's record stays after its last use.
    """

    def __init__(self, store: SharedStore, runtime: Runtime, idle_s: float) -> None:
        self.store = store
        self.id = secrets.token_hex(8)
        self._runtime = runtime
        self._idle_s = idle_s
        self._syncs: dict[str, tuple[SessionSync, Callable[[], Awaitable[None]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def key_of(self, client: ClientKey) -> str | None:
        """Return the key of a client's record; None for a session that only this replica can have."""
        if client.session is not None:
            return None
        who = json.dumps([client.agent, client.token, client.tenant, client.user])
        return hashlib.sha256(f"client {who}".encode()).hexdigest()

    def results_of(self, key: str) -> StoredResults:
        """Return the whole results of a session by the key of its record."""
        return StoredResults(self.store, key, lambda: self._runtime.bundle.settings.results.store_s)

    def sync(
        self, key: str, session: Session, changed: Callable[[], Awaitable[None]], *, expected: bool
    ) -> SessionSync:
        """Keep a session in step with its record until `forget`.

        Args:
            changed: awaited after a change by another replica was taken over.
            expected: as for `SessionSync`.
        """
        sync = SessionSync(
            self.store, key, session, ttl_s=self._idle_s, expected=expected, announce=lambda: self._announce(key)
        )
        self._syncs[key] = (sync, changed)
        return sync

    def forget(self, sync: SessionSync) -> None:
        """Note that a session has ended on this replica; its record stays."""
        if sync.key in self._syncs and self._syncs[sync.key][0] is sync:
            del self._syncs[sync.key]

    async def _announce(self, key: str) -> int:
        return await self.store.send(CHANGES, f"{self.id} {key}")

    async def run(self) -> None:
        """Hear of the other replicas' changes until cancelled."""
        messages = self.store.backend.messages
        if messages is None:
            return
        while True:
            try:
                await messages.listen((CHANGES,), self._hear, self._listening)
            except Exception as error:  # noqa: BLE001  # each store has exceptions of its own
                logger.warning("no changes of other replicas are heard: %s", type(error).__name__)
            await asyncio.sleep(RETRY_S)

    def _listening(self) -> None:
        # Changes may have been missed before.
        for sync, _ in self._syncs.values():
            sync.stale = True

    def _hear(self, channel: str, text: str) -> None:
        writer, _, key = text.partition(" ")
        if writer == self.id or key not in self._syncs:
            return
        sync, changed = self._syncs[key]
        sync.stale = True
        task = asyncio.create_task(self._follow(sync, changed), name="octoc serve: record of a session")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, sync: SessionSync, changed: Callable[[], Awaitable[None]]) -> None:
        with error_boundary("taking over what another replica changed"):
            await sync.pull()
            await changed()

    async def close(self) -> None:
        """End what runs, and the store's connections."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.store.close()
