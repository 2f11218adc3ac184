"""Requests of a connection without an answer yet, and what each line of a server means to them.

The SDK ignores a line that it cannot parse, so the caller waits until its time limit. It also starts a task for every
notification, even one without a reader. So octoc reads each line first: a line that cannot be parsed fails its own
request at once, and a line without a recipient goes no further.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import mcp_types
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import RequestId

from octoc.plugin.toolkit import LARGE_BYTES
from octoc_transport_mcp.framing import END_BYTES, DroppedLine
from octoc_transport_mcp.messages import ElementLimits, LineFault, ReadResult, read

if TYPE_CHECKING:
    from octoc_transport_mcp.claims import Claims

MAX_TOOLS = 20_000
"""Maximum number of tools of a server; a listing with more is refused, if possible before it is parsed."""
MAX_ASKS = 32
"""Maximum number of a server's requests that are answered at once; further ones are ignored."""
QUOTED_CHARS = 200

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,80}")'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID_AT_HEAD = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb"\s*,\s*)?" + _ID)
_ID_AT_TAIL = re.compile(_VERSION + rb"\s*,\s*" + _ID + rb"\s*\}\s*$")
_ID_BEFORE_TAIL = re.compile(_ID + rb"\s*,\s*" + _VERSION + rb"\s*\}\s*$")
_NOTIFICATION = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb'\s*,\s*)?"method"\s*:\s*"notifications/([^"\\]*)"')
_PROGRESS_TOKEN = re.compile(rb'"progressToken"\s*:\s*(-?\d{1,18}|"[^"\\]{1,80}")')

_BEGIN = b'{"jsonrpc"'
_PROGRESS = "progress"
_LISTS_CHANGED = frozenset({"tools/list_changed", "resources/list_changed", "prompts/list_changed"})
_HEARD = _LISTS_CHANGED | {_PROGRESS, "cancelled", "subscriptions/acknowledged", "resources/updated"}
_LISTEN = "subscriptions/listen"


@attrs.frozen(kw_only=True)
class PendingRequest:
    """A request of ours without an answer yet."""

    method: str
    has_progress: bool


@attrs.frozen(kw_only=True)
class AdmittedMessage:
    """A message for the SDK, or a line that is parsed later: a notification, or a large line.

    A large line has `max_elements`: it is read aside, and `PendingRequests.settle` gets the outcome. If two have the
    same `level`, only the newer one needs to be read.
    """

    message: SessionMessage | None = None
    line: bytes = b""
    level: str | None = None
    max_elements: int | None = None
    answered: tuple[RequestId, ...] = ()
    """The requests that this line answers, including those whose caller is gone."""


def error_of(request: RequestId, code: int, fault: LineFault) -> mcp_types.JSONRPCError:
    """Return an error whose data is the fault, which no server can send."""
    error = mcp_types.ErrorData(code=code, message=fault.reason, data=fault)
    return mcp_types.JSONRPCError(jsonrpc="2.0", id=request, error=error)


class PendingRequests:
    """The requests under way in both directions.

    `garbage` is the last line that was not a message, quoted, and `garbage_lines` the number of such lines.

    Args:
        limit: maximum bytes of a line, for messages.
        all_messages: whether each line is meant as a message, so that an unreadable one fails its request.
        error_of: makes the error that answers a request, from its id, the code and the fault.
    """

    def __init__(
        self,
        limit: int,
        elements: ElementLimits | None = None,
        claims: Claims | None = None,
        *,
        all_messages: bool = False,
        error_of: Callable[[RequestId, int, LineFault], mcp_types.JSONRPCError] = error_of,
    ) -> None:
        self._limit = limit
        self._elements = elements or ElementLimits()
        self._claims = claims
        self._all_messages = all_messages
        self._error_of = error_of
        self.requests: dict[RequestId, PendingRequest] = {}
        self._asks: set[RequestId] = set()
        self.garbage = ""
        self.garbage_lines = 0

    def note_sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """Note a message that is being sent."""
        if isinstance(message, mcp_types.JSONRPCRequest):
            if message.method == "initialize":
                self.requests.clear()  # earlier attempts are given up
            has_progress = "progressToken" in ((message.params or {}).get("_meta") or {})
            pending = PendingRequest(method=message.method, has_progress=has_progress)
            self.requests[coerce_request_id(message.id)] = pending
        elif isinstance(message, mcp_types.JSONRPCNotification):
            given_up = cancelled_id(message)
            if given_up is not None:
                self.requests.pop(given_up, None)
        elif message.id is not None:
            self._asks.discard(message.id)

    def admit(self, line: bytes | DroppedLine) -> list[AdmittedMessage]:
        """Return the messages that the SDK gets for a line: its message, an error for its request, or nothing."""
        if isinstance(line, DroppedLine):
            reason = f"an answer of {line.length} bytes, which is over the limit of {self._limit}"
            return self.fail(line.head, line.tail, LineFault(kind="too_large", reason=reason))
        if not line.strip():
            return []
        notification = _NOTIFICATION.match(line)
        if notification is not None:
            name = notification.group(1).decode("utf-8", "replace")
            if name not in _HEARD:
                is_log = name == "message" and self._claims is not None and self._claims.logs.wanted
                return [AdmittedMessage(line=line)] if is_log else []
            if name == _PROGRESS:
                token = _PROGRESS_TOKEN.search(line)
                pending = None if token is None else self.requests.get(_id_of(token.group(1)))
                if token is None or pending is None or not pending.has_progress:
                    return []
                return [AdmittedMessage(line=line, level=f"{_PROGRESS} {token.group(1).decode('utf-8', 'replace')}")]
            if name in _LISTS_CHANGED:
                return [AdmittedMessage(line=line, level=name)]
        return self._parse(line)

    def read(self, admitted: AdmittedMessage) -> SessionMessage | None:
        """Return the admitted message; None for a notification that cannot be read."""
        if admitted.message is not None:
            return admitted.message
        if not admitted.line:
            return None
        message = read(admitted.line, self._elements.message).message
        if self._claims is not None and isinstance(message, mcp_types.JSONRPCNotification) and is_log(message):
            self._claims.logs.hear(message.params)
            return None
        return None if message is None else SessionMessage(message)

    def _parse(self, line: bytes) -> list[AdmittedMessage]:
        head, tail = line[:END_BYTES], line[-END_BYTES:]
        max_elements = self._elements.message
        if len(line) > LARGE_BYTES and b'"method"' not in head:
            named = _ids(head, tail)
            awaited = [self.requests[key] for key in named if key in self.requests]
            if named and not awaited:
                return self._late(named)  # a late answer is not worth the memory of reading it
            if any(pending.method == "tools/list" for pending in awaited):
                max_elements = self._elements.listing
                if line.count(b'"inputSchema"') > MAX_TOOLS:
                    return self.fail(head, tail, LineFault(kind="too_large", reason=f"more than {MAX_TOOLS} tools"))
        if len(line) > LARGE_BYTES:
            return [AdmittedMessage(line=line, max_elements=max_elements)]
        return self.settle(line, read(line, max_elements))

    def settle(self, line: bytes, result: ReadResult) -> list[AdmittedMessage]:
        """Return the messages for a line that was read aside, as `admit` does."""
        message, fault = result.message, result.fault
        if message is None and fault is not None:
            head, tail = line[:END_BYTES], line[-END_BYTES:]
            if self._all_messages or b'"jsonrpc"' in head or b'"jsonrpc"' in tail or fault.kind == "too_large":
                return self._after_half(line) or self.fail(head, tail, fault)
            quoted = line[:QUOTED_CHARS].decode("utf-8", "replace").strip()
            self.garbage = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in quoted)
            self.garbage_lines += 1
            return []
        return [] if message is None else self._known(message)

    def _after_half(self, line: bytes) -> list[AdmittedMessage]:
        """Return the message after an unfinished one on the same line; the request of the unfinished one fails."""
        start = line.rfind(_BEGIN)
        if start < 1 or len(line) - start > LARGE_BYTES:
            return []
        message = read(line[start:], self._elements.message).message
        if message is None:
            return []
        reason = "a message that was never ended"
        head = line[: min(start, END_BYTES)]
        broken = self.fail(head, b"", LineFault(kind="protocol", reason=reason)) if _ids(head, b"") else []
        return [*broken, *self._known(message)]

    def admit_last(self, line: bytes | DroppedLine) -> list[AdmittedMessage]:
        """Return the messages for the bytes after the last newline: a complete message, or nothing."""
        if isinstance(line, DroppedLine):
            return []
        if len(line) > LARGE_BYTES:
            return [AdmittedMessage(line=line, max_elements=self._elements.message)]
        message = read(line, self._elements.message).message
        # Without a message, each waiting call fails with how the server ended.
        return [] if message is None else self._known(message)

    def _known(self, message: mcp_types.JSONRPCMessage) -> list[AdmittedMessage]:
        if isinstance(message, mcp_types.JSONRPCRequest):
            if len(self._asks) >= MAX_ASKS:
                return []
            self._asks.add(message.id)
        elif isinstance(message, mcp_types.JSONRPCNotification):
            withdrawn = cancelled_id(message)
            if withdrawn is not None:
                self._asks.discard(withdrawn)
        elif message.id is None:
            fault = LineFault(kind="protocol", reason="an error without an id", words=message.error.message)
            return self.fail(b"", b"", fault)
        elif self.requests.pop(coerce_request_id(message.id), None) is None:
            return self._late([message.id])  # unknown id, a second answer, or an answer after the time-out
        else:
            return [AdmittedMessage(message=SessionMessage(message), answered=(message.id,))]
        return [AdmittedMessage(message=SessionMessage(message))]

    def _late(self, requests: list[RequestId]) -> list[AdmittedMessage]:
        """Return late answers that end a claim."""
        claims = self._claims
        if claims is None or not any(map(claims.is_open, requests)):
            return []
        return [AdmittedMessage(answered=tuple(requests))]

    def note(self, admitted: AdmittedMessage) -> None:
        """Report a message to the claims when it is read, in the order of the server's messages."""
        if self._claims is None:
            return
        for request in admitted.answered:
            self._claims.answered(request)
        message = None if admitted.message is None else admitted.message.message
        if isinstance(message, mcp_types.JSONRPCRequest):
            self._claims.note_question(message.id, message.method)

    def fail(self, head: bytes, tail: bytes, fault: LineFault) -> list[AdmittedMessage]:
        """Fail the requests that a line names, or if it names none the only pending request."""
        named = _ids(head, tail)
        waiting = [key for key, pending in self.requests.items() if pending.method != _LISTEN]
        failed = [key for key in named if key in self.requests] if named else waiting if len(waiting) == 1 else []
        refused = [admitted for key in failed for admitted in self.refuse(key, mcp_types.INTERNAL_ERROR, fault)]
        return [*self._late(named), *refused]

    def refuse(self, request: RequestId, code: int, fault: LineFault) -> list[AdmittedMessage]:
        """Return an error that answers `request`, or nothing if it is already answered."""
        if self.requests.pop(coerce_request_id(request), None) is None:
            return []
        return [AdmittedMessage(message=SessionMessage(self._error_of(request, code, fault)))]


def is_log(message: mcp_types.JSONRPCNotification) -> bool:
    """Return whether a notification is a log message, which the SDK does not get."""
    return message.method == "notifications/message"


def cancelled_id(message: mcp_types.JSONRPCNotification) -> RequestId | None:
    """Return the id of the request that a notification cancels, or None for another notification."""
    if message.method != "notifications/cancelled":
        return None
    request = (message.params or {}).get("requestId")
    return coerce_request_id(request) if isinstance(request, (int, str)) else None


def _ids(head: bytes, tail: bytes) -> list[RequestId]:
    result = (_ID_AT_HEAD.match(head), _ID_AT_TAIL.search(tail), _ID_BEFORE_TAIL.search(tail))
    return list(dict.fromkeys(_id_of(match.group(1)) for match in result if match is not None))


def _id_of(written: bytes) -> RequestId:
    return coerce_request_id(written.decode("utf-8", "replace").strip('"'))
