"""One event per call: the caller, the tool, the time, the duration, the size and the outcome.

Arguments only where asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from octoc.plugin.hookspecs import hookimpl
from octoc.results import ToolFailure

if TYPE_CHECKING:
    import datetime as dt

    from octoc.results import ToolCall, ToolResult


class Stream(Protocol):
    """What an audit log is written to: a text file, or anything like one."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


def call_event(server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float) -> dict[str, Any]:
    """Return how a call ended as plain values, without its arguments and its result.

    `outcome` is `ok`, `tool_error` where the tool itself says that it failed, or the kind of a failure. What is not
    known of the caller is left out; `server` is empty where no server was to get the call.
    """
    caller = call.caller
    event: dict[str, Any] = {
        "agent": caller.agent or None,
        "session": caller.session,
        "tenant": caller.tenant,
        "user": caller.user,
        "account": caller.account,
        "correlation_id": caller.correlation_id,
        "server": server,
        "tool": call.tool,
        "seconds": round(seconds, 6),
    }
    if isinstance(outcome, ToolFailure):
        event |= {"outcome": outcome.kind, "failure": outcome.message, "sent": outcome.sent}
    else:
        media = sum(len(part.data.get("data") or "") for part in outcome.content if part.data is not None)
        event |= {
            "outcome": "ok" if outcome.ok else "tool_error",
            "result_chars": sum(len(part.text) for part in outcome.content if part.text is not None),
            "result_media_bytes": media or None,
        }
    return {key: value for key, value in event.items() if value is not None}


class AuditLog:
    """Writes a line of JSON for each call, flushed at once; give it to `Runtime.open(observers=[…])`.

    Args:
        stream: where to; the host opens and closes it.
        arguments: also write each call's arguments, which may hold anything that a model knows.
        now: the time of day, with its zone; this machine's in UTC by default.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        arguments: bool = False,
        now: Callable[[], dt.datetime] | None = None,
    ) -> None:
        self._stream = stream
        self._arguments = arguments
        self._now = now or _now

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        when = self._now().isoformat(timespec="milliseconds")
        event = {"time": when, "event": "tool_call", **call_event(server, call, outcome, seconds)}
        if self._arguments:
            event["arguments"] = dict(call.arguments)
        # One write per line: lines of calls that end at the same time never mix.
        self._stream.write(_line(event) + "\n")
        self._stream.flush()


def _line(event: dict[str, Any]) -> str:
    """Return an event as one line, in ASCII: whatever a model wrote, there is no stream that cannot take it."""
    try:
        return json.dumps(event, default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps({**event, "arguments": "the input is not JSON"}, default=str)


def _now() -> dt.datetime:
    # Not at the top: opening a bundle needs no calendar.
    import datetime as dt

    return dt.datetime.now(dt.UTC)
