"""Stores that replicas of the gateway share: values under keys for a time, and messages between replicas."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, SupportsFloat

import attrs


class KeyValues(Protocol):
    """JSON values under keys, in collections. Each store of `py-key-value-aio` is one; methods may raise anything."""

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return a value; None if there is none, or its time is over."""
        ...

    async def put(
        self, key: str, value: Mapping[str, Any], *, collection: str | None = None, ttl: SupportsFloat | None = None
    ) -> None:
        """Keep a value, for `ttl` seconds."""
        ...

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Remove a value; return whether there was one."""
        ...


class StoreMessages(Protocol):
    """Short messages between the users of one store. A message without a listener is lost."""

    async def send(self, channel: str, text: str) -> int:
        """Send a message to all listeners of a channel; return how many there were."""
        ...

    async def listen(
        self, channels: Sequence[str], hear: Callable[[str, str], None], begun: Callable[[], None]
    ) -> None:
        """Call `hear` with the channel and text of each message, until cancelled. Raises if the connection is lost.

        `begun` is called when it listens: messages before that may be missed.
        """
        ...


@attrs.frozen(kw_only=True)
class StoreBackend:
    """A store that a plugin has opened.

    Args:
        values: kept results, records of sessions, and what replicas pass on.
        messages: None for a store that only one process uses.
        name: what logs call it, without user and password.
        close: closes its connections.
    """

    values: KeyValues
    messages: StoreMessages | None
    name: str
    close: Callable[[], Awaitable[None]]
