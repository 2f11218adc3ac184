"""Log messages of a server, given to the call that they belong to.

A message does not name its call. Over HTTP it comes on the stream of its call; on a stream that calls share, it belongs
to the only call under way, or to the newest of one conversation's. A message that may be another caller's is dropped.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types
from mcp.shared.dispatcher import coerce_request_id
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin import LogMessage, LogWish, ToolCall
from octoc_transport_mcp.outbound import Sender

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.shared.dispatcher import CallOptions, Outbound
    from mcp_types import RequestId

log = logging.getLogger(__name__)

LOGGED = frozenset({"tools/call", "resources/read", "prompts/get"})
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""From the least severe. Source: MCP, logging."""
FIRST_ID = 3_000_000_000
"""First id of requests of this module; `claims` and `direct_calls` count from lower ones."""
LOGGED_CALL: ContextVar[ToolCall | None] = ContextVar("octoc_mcp_logged_call", default=None)


class ServerLogs:
    """The requests under way of one connection, and who wants the messages that the server logs meanwhile."""

    def __init__(self) -> None:
        self.running: dict[RequestId, ToolCall] = {}
        """The requests whose callers want messages."""
        self.others = 0
        """The number of other requests under way."""
        self.level: int | None = None
        """The level that the server was asked for, as an index of `LEVELS`."""
        self.has_left = False
        """Whether a caller left before the answer, so that the server may still log for it."""

    @property
    def wanted(self) -> bool:
        """Whether any request under way wants messages."""
        return bool(self.running)

    def hear(self, params: Any, carrier: RequestId | None = None) -> None:
        """Give a message to its call. `carrier` is our request whose own stream brought it."""
        call = self._sole() if carrier is None else self.running.get(coerce_request_id(carrier))
        if call is None or call.log is None or not isinstance(params, Mapping):
            return
        level, logger = params.get("level"), params.get("logger")
        if level not in LEVELS or LEVELS.index(level) < LEVELS.index(call.log.level):
            return
        message = LogMessage(level=level, data=params.get("data"), logger=logger if isinstance(logger, str) else "")
        try:
            call.log.hear(message)
        except Exception:
            # The host's own fault. No caller could handle the exception.
            log.exception("the host's callback for log messages failed")

    def _sole(self) -> ToolCall | None:
        calls = list(self.running.values())
        if not calls or self.has_left or self.others:
            return None
        conversations = {attrs.evolve(call.caller, correlation_id=None) for call in calls}
        is_one = len(calls) == 1 or (len(conversations) == 1 and all(caller.session for caller in conversations))
        return calls[-1] if is_one else None


class LoggedCalls(Sender):
    """Notes each request of `LOGGED` while it is under way."""

    def __init__(self, inner: Outbound, logs: ServerLogs) -> None:
        super().__init__(inner)
        self._logs = logs
        self._ids = itertools.count(FIRST_ID)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises: MCPError."""
        if method not in LOGGED:
            return await self._inner.send_raw_request(method, params, opts)
        logs, call = self._logs, LOGGED_CALL.get()
        request: RequestId | None = None
        if call is None or call.log is None:
            logs.others += 1
        else:
            opts = {**(opts or {})}
            request = coerce_request_id(opts.setdefault("request_id", next(self._ids)))
            logs.running[request] = call
        try:
            return await self._inner.send_raw_request(method, params, opts)
        except asyncio.CancelledError:
            logs.has_left = True
            raise
        finally:
            if request is None:
                logs.others -= 1
            else:
                del logs.running[request]


async def ask_for_logs(client: Client, call: ToolCall, wish: LogWish, logs: ServerLogs) -> ToolCall:
    """Have the server send the messages that a call wants. Returns the call with what goes with its request."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return attrs.evolve(call, meta={**call.meta, mcp_types.LOG_LEVEL_META_KEY: wish.level})
    if client.server_capabilities.logging is not None:
        level = LEVELS.index(wish.level)
        if logs.level is None or level < logs.level:
            params = mcp_types.SetLevelRequestParams(level=wish.level)
            await client.session.send_request(mcp_types.SetLevelRequest(params=params), mcp_types.EmptyResult)
            logs.level = level
    return call
