"""What a session of the SDK sends its requests through: it can be given to a session, but not by the SDK's `Client`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import Outbound

    Wrapper = TypeVar("Wrapper", bound=Outbound)


@contextlib.contextmanager
def sent_through(session: ClientSession, wrap: Callable[[Outbound], Wrapper]) -> Iterator[Wrapper | None]:
    """Have a running session send through `wrap` of what it sends through, until the block ends.

    Yields what `wrap` returned; None, and nothing changes, with a release of the SDK that has no such attribute.
    """
    inner: Outbound | None = getattr(session, "_dispatcher", None)
    if inner is None:
        yield None
        return
    wrapper = wrap(inner)
    session._dispatcher = wrapper  # type: ignore[assignment]  # noqa: SLF001  # its type is that of a runner
    try:
        yield wrapper
    finally:
        session._dispatcher = inner  # type: ignore[assignment]  # noqa: SLF001  # as above
