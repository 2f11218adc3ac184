"""What a session of the SDK sends its requests through. A session can be given another sender; `Client` has no option.

Each sender passes requests on to the one before it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import CallOptions, Outbound

    SenderType = TypeVar("SenderType", bound=Outbound)


class Sender:
    """Base of senders: passes notifications on to `inner`. A subclass has `send_raw_request`."""

    def __init__(self, inner: Outbound) -> None:
        self._inner = inner

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification."""
        await self._inner.notify(method, params, opts)


@contextlib.contextmanager
def sent_through(session: ClientSession, make: Callable[[Outbound], SenderType]) -> Iterator[SenderType | None]:
    """Until the block ends, have a running session send through `make` of its current sender.

    Yield the new sender. With a release of the SDK that has no such attribute, yield None and change nothing.
    """
    inner: Outbound | None = getattr(session, "_dispatcher", None)
    if inner is None:
        yield None
        return
    sender = make(inner)
    session._dispatcher = sender  # type: ignore[assignment]  # noqa: SLF001  # its type is that of a runner
    try:
        yield sender
    finally:
        session._dispatcher = inner  # type: ignore[assignment]  # noqa: SLF001  # as above
