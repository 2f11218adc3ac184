"""What stands behind the address: who a visitor is, and what there is to see. Made by `http.py`, used by the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from octoc_serve.server import SurfaceServer
    from octoc_serve.session_store import Key

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


@attrs.frozen(kw_only=True, eq=False)
class Door:
    """The gateway as a visitor may see it.

    Args:
        surface: the runtime, what it keeps of clients, and their last calls.
        admit: a token's text, None when the visitor has none -> whose things may be seen, a key without a session for
            agent: one for a token, those served where there are no tokens. Empty: nobody's.
        guarded: tells whether a token is needed, so that a visitor without one is asked for it.
    """

    surface: SurfaceServer
    admit: Callable[[str | None], tuple[Key, ...]]
    guarded: Callable[[], bool]
