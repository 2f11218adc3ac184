"""What a session makes of results: as much as its model may see, the rest kept for it under a handle."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from octoc.results import ToolFailure
from octoc.runtime.results.parts import Keep, is_large
from octoc.runtime.results.truncate import truncate
from octoc.runtime.shares import account_of

if TYPE_CHECKING:
    from octoc.names import ToolId
    from octoc.runtime.calls import Outcome
    from octoc.runtime.session import Session


def cut(session: Session, outcome: Outcome, tool: ToolId | None) -> Outcome:
    """Return what came back, cut to the limit for `tool`; None is one of octoc's own."""
    if isinstance(outcome, ToolFailure):
        return outcome
    limits, counter = session.limits(tool)
    return truncate(outcome, limits, counter, keep_of(session))


async def cut_aside(session: Session, outcome: Outcome, tool: ToolId | None) -> Outcome:
    """Return what `cut` returns, worked out in a thread where it is so much that the loop would stand still."""
    if isinstance(outcome, ToolFailure) or not is_large(outcome):
        return cut(session, outcome, tool)
    import asyncio

    limits, counter = session.limits(tool)
    # When this task is cancelled the thread ends on its own, and what it kept ends with the session, or expires.
    return await asyncio.to_thread(truncate, outcome, limits, counter, keep_of(session))


def keep_of(session: Session) -> Keep:
    """Return what keeps a text for a session, in its account's share of the store."""
    return partial(session.runtime.results.keep, session.key, account=account_of(session.caller))
