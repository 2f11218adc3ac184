"""octoc's own plugins. They register like strangers, before all others, so that every other one is asked first."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from octoc.plugin.audit import call_event
from octoc.plugin.hookspecs import hookimpl

if TYPE_CHECKING:
    from octoc.plugin.protocols import TokenCounter
    from octoc.results import ToolCall, ToolFailure, ToolResult

logger = logging.getLogger("octoc.calls")


class DefaultTokenCounter:
    """The approximate counter, for every model."""

    @hookimpl
    def octoc_token_counter(self, model: str) -> TokenCounter:
        from octoc.tokens import APPROXIMATE

        return APPROXIMATE


class CallLog:
    """Logs the end of each call at debug: who, what, how long, how it ended. Never arguments or results.

    The record has the fields of an audit event.
    """

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        if not logger.isEnabledFor(logging.DEBUG):
            return
        event = call_event(server, call, outcome, seconds)
        who, what = call.caller.agent or "the host", f"{server}/{call.tool}" if server else call.tool
        logger.debug("%s called %s: %s after %.3f s", who, what, event["outcome"], seconds, extra=event)
