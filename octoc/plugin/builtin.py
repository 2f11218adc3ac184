"""octoc's own plugins. They register like strangers, before all others, so that every other one is asked first."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

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
    """Logs the end of each call at debug: who, what, how long, how it ended. Never arguments or results."""

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        how = getattr(outcome, "kind", None) or ("ok" if outcome.ok else "tool error")
        logger.debug("%s called %s/%s: %s after %.3f s", call.caller.agent, server, call.tool, how, seconds)
