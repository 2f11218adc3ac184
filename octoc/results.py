"""What crosses the plugin boundary at run time: a call, what came back, what went wrong. Frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from octoc.caller import Caller

__all__ = [
    "Caller",
    "ContentPart",
    "FailureKind",
    "ListedOffer",
    "ListedTool",
    "LogLevel",
    "LogMessage",
    "LogWish",
    "Progress",
    "ServerListing",
    "ToolCall",
    "ToolFailure",
    "ToolResult",
    "Truncation",
]

FailureKind = Literal[
    "bad_request",  # the call itself is malformed: no name, or arguments that are not an object or do not fit the tool
    "not_found",  # no such tool for this agent
    "ambiguous",  # a bare name that several servers have
    "not_active",  # the tool's capability is not active
    "not_ready",  # a variable that the server needs is not set, or nothing is bound to a builtin server
    "unauthorized",  # the server wants credentials, or others than it got
    "changed",  # not tried: the tool differs from its pin, and the workspace refuses such changes
    "unavailable",  # not tried: the server failed too often just now, or has no room for another call
    "rate_limited",  # not tried: the agent or its tenant has used what it may use for now
    "connect_failed",  # the server did not start, or refused the connection
    "connection_lost",  # the server died during the call
    "timeout",
    "too_large",  # the server answered more than the limit of bytes
    "protocol",  # the server answered something that is not the protocol
    "cancelled",
    "internal",  # a plugin or octoc itself failed
]


@attrs.frozen(kw_only=True)
class ContentPart:
    """One part of a result, as MCP has it. `text` only for type `text`; `data` is the whole wire object otherwise."""

    type: str
    text: str | None = None
    data: Mapping[str, Any] | None = None


@attrs.frozen(kw_only=True)
class Truncation:
    """A record of one cut: `original` and `kept` are counts of `unit`."""

    stage: str
    original: int
    kept: int
    unit: Literal["chars", "tokens", "bytes"]


@attrs.frozen(kw_only=True)
class Progress:
    """What a server says of a call under way: `done` of `total`, in the server's own unit; `total` when it knows it."""

    done: float
    total: float | None = None
    message: str | None = None


LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@attrs.frozen(kw_only=True)
class LogMessage:
    """What a server logs during a call: any JSON value. `logger` is the part of the server, empty if unnamed."""

    level: LogLevel
    data: Any
    logger: str = ""
    server: str = ""


@attrs.frozen(kw_only=True)
class LogWish:
    """The messages that a caller wants: those of `level` and above. `hear` is called from the event loop."""

    level: LogLevel
    hear: Callable[[LogMessage], None] = attrs.field(eq=False, repr=False)


TOOLS_CALL = "tools/call"


@attrs.frozen(kw_only=True)
class ToolCall:
    """A call as a transport gets it: the server's own tool name, and arguments that are a JSON object.

    With another `method` than `tools/call` it is a request of an `OfferingConnection`: `arguments` are its parameters,
    and `tool` names its subject, as a resource's URI.

    `timeout_s` is wall clock, for the whole call. Where waiting took a part of the limit, `limit_s` is the whole of it,
    which messages name. `on_progress` is called from the event loop and must not block. `meta` goes with the request
    where the protocol has a place for it (MCP's `_meta`), as for a trace context. `log` asks for the server's log
    messages during the call, where the transport has any.
    """

    tool: str
    arguments: Mapping[str, Any]
    timeout_s: float
    limit_s: float | None = None
    caller: Caller = attrs.field(factory=Caller)
    on_progress: Callable[[Progress], None] | None = attrs.field(default=None, eq=False, repr=False)
    meta: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    method: str = TOOLS_CALL
    log: LogWish | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def told_limit_s(self) -> float:
        """The limit as it was configured, in seconds: what to say of a call that took too long."""
        return self.timeout_s if self.limit_s is None else self.limit_s


@attrs.frozen(kw_only=True)
class ToolResult:
    """What a tool answered. `is_error` is the server's own word that the call failed (MCP's `isError`).

    `handle` names the whole result where a part of it was left out and kept: `read_result` pages through it.
    `rpc_code` is the code of a JSON-RPC error that the server answered in the place of a result.
    """

    content: tuple[ContentPart, ...]
    structured: Any = None
    is_error: bool = False
    truncations: tuple[Truncation, ...] = ()
    handle: str | None = None
    rpc_code: int | None = None

    @property
    def text(self) -> str:
        """The text parts, one after another, separated by a newline."""
        return "\n".join(part.text for part in self.content if part.text is not None)

    @property
    def ok(self) -> bool:
        return not self.is_error

    @classmethod
    def of_text(cls, text: str, *, is_error: bool = False) -> ToolResult:
        """Return a result that is one text part."""
        return cls(content=(ContentPart(type="text", text=text),), is_error=is_error)


MAX_WAIT_S = 86_400.0
"""The longest wait that is believed, in seconds: a day. A server may ask for any number."""


def bounded_wait(seconds: float | None) -> float | None:
    """Return a requested wait, from 0 to MAX_WAIT_S; None for no wait, and for anything but a number."""
    if seconds is None or seconds != seconds:  # noqa: PLR0124  # only NaN differs from itself
        return None
    return float(min(max(seconds, 0), MAX_WAIT_S))  # compared before it is a float: an integer may be too large for one


@attrs.frozen(kw_only=True)
class ToolFailure:
    """A failure as a value for the model: octoc could not bring an answer of the tool.

    `message` is one line without a full stop; `text` is what the model is shown. `sent` is False only where it is
    certain that the server has not begun the call, so that repeating it cannot do anything twice. `retry_after_s` is at
    most MAX_WAIT_S, whatever it is given. `needs` names MCP's client capabilities without which the server does not
    begin the call. `rpc_code` is the code of a JSON-RPC error with which the server refused a request.
    """

    kind: FailureKind
    message: str
    text: str
    similar: tuple[str, ...] = ()
    retry_after_s: float | None = attrs.field(default=None, converter=bounded_wait)
    sent: bool = True
    needs: tuple[str, ...] = ()
    rpc_code: int | None = None

    @property
    def ok(self) -> bool:
        return False

    @property
    def handle(self) -> None:
        """Nothing of a failure is left out, so there is nothing to page through."""
        return


@attrs.frozen(kw_only=True)
class ListedTool:
    """A tool as a server lists it. `wire` is the whole object in the protocol's wire form (camelCase keys)."""

    name: str
    description: str
    wire: Mapping[str, Any]


OfferKind = Literal["resource", "template", "prompt"]
OFFER_KEYS: Mapping[OfferKind, str] = {"resource": "uri", "template": "uriTemplate", "prompt": "name"}
"""Kind of an offer -> the key of its wire object that identifies it on its server."""


@attrs.frozen(kw_only=True)
class ListedOffer:
    """A resource, resource template or prompt as a server lists it.

    `name` is its URI, URI template or name; `wire` is the whole object in the protocol's wire form (camelCase keys).
    """

    kind: OfferKind
    name: str
    wire: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class ServerListing:
    """What a server says of itself and of its tools, all pages joined, in the server's order.

    `left_out` has one line for each tool that the server listed and that cannot be used: which one, and why.
    `offers` are its resources, templates and prompts, in this order; `offers_failure` says why they could not be
    listed. `features` are what it supports beside lists: `completions`, `logging`, `subscribe`, sorted.
    """

    server_info: Mapping[str, Any]
    protocol_version: str
    instructions: str | None
    tools: tuple[ListedTool, ...]
    left_out: tuple[str, ...] = ()
    offers: tuple[ListedOffer, ...] = ()
    offers_failure: str = ""
    features: tuple[str, ...] = ()
