"""Subscribe a session to resources that its agent may read, and keep its subscriptions over a reload."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from octoc.caller import Caller
from octoc.results import ToolFailure
from octoc.runtime.offers.requests import accessible, answer_of, not_found
from octoc.runtime.offers.watches import Subscription, Updated
from octoc.runtime.results.failures import failure

if TYPE_CHECKING:
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.state import SessionState

logger = logging.getLogger("octoc.runtime")

MAX_SUBSCRIPTIONS = 500
"""Resources that one session may be subscribed to."""


async def subscribe(session: SessionState, uri: str, updated: Updated, caller: Caller) -> ToolFailure | None:
    """Subscribe a session to a resource that its agent may read. Returns why that failed, or None."""
    access = accessible(session, caller)
    if isinstance(access, ToolFailure):
        return access
    server = access.server_of(uri)
    if server is None:
        return not_found(session, "resource", uri)
    if "subscribe" not in access.features.get(server, ()):
        message = f"server `{server}` does not report changes of its resources"
        return failure("bad_request", message, profile=session.profile)
    subscriptions = session.loaded.offers.subscriptions
    if len(subscriptions.of(session.number)) >= MAX_SUBSCRIPTIONS:
        message = f"the session has {MAX_SUBSCRIPTIONS} subscriptions already"
        return failure("rate_limited", message, profile=session.profile)
    subscription = Subscription(session.number, uri, updated)
    outcome = await subscriptions.add(server, subscription, caller, session.runtime.sessions)
    answer = answer_of(session, server, outcome)
    return answer if isinstance(answer, ToolFailure) else None


async def unsubscribe(session: SessionState, uri: str, updated: Updated | None) -> None:
    """End a session's subscriptions to a resource: that of one callback, or all."""
    if session.loaded.has_subscriptions:
        subscriptions = session.loaded.offers.subscriptions
        for one in subscriptions.of(session.number):
            if one.uri == uri and updated in (None, one.updated):
                await subscriptions.remove(one)


async def follow(session: SessionState, old: LoadedBundle) -> None:
    """Take a session's subscriptions to its new bundle; those to resources that its agent lost end."""
    for one in old.offers.subscriptions.of(session.number):
        await old.offers.subscriptions.remove(one)
        failed = await subscribe(session, one.uri, one.updated, session.caller)
        if failed is not None:
            logger.info("after a reload a subscription to `%s` ends: %s", one.uri, failed.kind)
