"""Whole results that several processes keep, so that `read_result` finds them in any of them. The host brings them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import attrs

from octoc.names import ToolId
from octoc.results import ContentPart, ToolResult
from octoc.runtime.shares import account_of

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState


class SharedResultsError(Exception):
    """The shared results cannot be read now; the message says why."""


@attrs.frozen(kw_only=True)
class SharedResult:
    """The whole of a cut result.

    Args:
        texts: its parts.
        source: the tool that it is of; None for octoc's own tools.
        bundle: digest of the inputs of the bundle that it was made with.
    """

    texts: tuple[str, ...]
    source: ToolId | None
    bundle: str


class SharedResults(Protocol):
    """The shared results of one session; no other session reads them."""

    async def keep(self, handle: str, result: SharedResult) -> str | None:
        """Keep a result. Returns None, or why only this process has it. Never raises, and never waits for long."""
        ...

    async def find(self, handle: str) -> SharedResult | None:
        """Return a kept result; None for an unknown handle. Raises: SharedResultsError."""
        ...


async def share(
    session: SessionState, fitted: ToolResult, source: ToolId | None, kept: Mapping[str, tuple[str, ...]]
) -> ToolResult:
    """Share what a cut has stored under handles; return the cut result, which says so if this process alone has it."""
    if session.shared_results is None:
        return fitted
    for handle, texts in kept.items():
        result = SharedResult(texts=texts, source=source, bundle=session.loaded.bundle.inputs)
        problem = await session.shared_results.keep(handle, result)
        if problem is not None:
            text = f"[octoc] only the replica that answered keeps the whole result: {problem}"
            fitted = attrs.evolve(fitted, content=(*fitted.content, ContentPart(type="text", text=text)))
    return fitted


async def take_shared(session: SessionState, handle: str) -> SharedResult | None:
    """Return a result that another process has cut for the session, and store it here too; None for none.

    Raises: SharedResultsError.
    """
    if session.shared_results is None:
        return None
    found = await session.shared_results.find(handle)
    # Results of octoc's own tools describe the registry of their bundle.
    if found is None or (found.source is None and found.bundle != session.loaded.bundle.inputs):
        return None
    account = account_of(session.caller)
    session.runtime.results.keep(session.number, found.texts, account=account, source=found.source, handle=handle)
    session.has_stored = True
    return found
