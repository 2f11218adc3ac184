"""What a session makes of results: as much as its model may see, the rest kept for it under a handle."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

from octoc.names import ToolId
from octoc.results import ToolFailure
from octoc.runtime.results.fit import truncate
from octoc.runtime.results.parts import Keep, is_large
from octoc.runtime.shares import account_of

if TYPE_CHECKING:
    from octoc.runtime.session import Session
    from octoc.runtime.tools.server_call import Outcome


def cut(session: Session, outcome: Outcome, tool: ToolId | None) -> Outcome:
    """Return what came back, cut to the limit for `tool`; None is one of octoc's own."""
    if isinstance(outcome, ToolFailure):
        return outcome
    limits, counter = session.limits(tool)
    return truncate(outcome, limits, counter, keep_of(session, tool))


async def cut_aside(session: Session, outcome: Outcome, tool: ToolId | None) -> Outcome:
    """Return what `cut` returns, worked out in a thread where it is so much that the loop would stand still."""
    if isinstance(outcome, ToolFailure) or not is_large(outcome):
        return cut(session, outcome, tool)
    import asyncio

    limits, counter = session.limits(tool)
    # When this task is cancelled the thread ends on its own, and what it kept ends with the session, or expires.
    return await asyncio.to_thread(truncate, outcome, limits, counter, keep_of(session, tool))


def keep_of(session: Session, tool: ToolId | None) -> Keep:
    """Return what keeps a text for a session, in its account's share of the store; `tool` is what gave the text."""
    return partial(session.runtime.results.keep, session.key, account=account_of(session.caller), source=tool)


def keep_aged(session: Session, text: str, name: str) -> str | None:
    """Keep an old result of the tool that the model called `name`. Returns its handle, None where it is not kept."""
    if not session.reads_results:
        return None
    index = session.surface.names().resolve(name)
    return keep_of(session, session.generation.catalog[index].id if isinstance(index, int) else None)((text,))


def is_readable(session: Session, source: Hashable) -> bool:
    """Tell whether a session may still read what a source gave: not of a tool that a reload took away."""
    return not isinstance(source, ToolId) or session.surface.scope.may_have(source)
