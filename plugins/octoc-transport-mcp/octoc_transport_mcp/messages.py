"""Messages out of bytes: limits are checked first, large ones are parsed in a thread, half characters are replaced."""

from __future__ import annotations

import asyncio
import json
import re

import attrs
import mcp_types

from octoc.json_limits import LARGE_BYTES, MAX_ELEMENTS, MAX_LISTING_ELEMENTS, excess, may_have_odd_number, parse
from octoc.plugin.protocols import ServerTarget
from octoc.results import FailureKind
from octoc_transport_mcp.lone_surrogates import without_lone_surrogates

MAX_PARTS = 10_000
"""Content parts of one result: each becomes an object that takes a hundred times the memory of its bytes."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_TOO_DEEP = "a message that is nested too deep to be read"


@attrs.frozen(kw_only=True)
class LineFault:
    """Why a line could not be an answer: rides as the data of a JSON-RPC error that no server can send.

    `words` are the server's own, which may be about another call than the one that they fail.
    """

    kind: FailureKind
    reason: str
    words: str = ""


@attrs.frozen(kw_only=True)
class ElementLimits:
    """JSON elements of one message: `listing` of an answer to `tools/list`, `message` of any other."""

    message: int = MAX_ELEMENTS
    listing: int = MAX_LISTING_ELEMENTS

    @classmethod
    def of(cls, target: ServerTarget) -> ElementLimits:
        """Return a server's own limits, or the defaults."""
        own = target.max_elements
        return cls() if own is None else cls(message=own, listing=own)


@attrs.frozen(kw_only=True, eq=False)
class Read:
    """Bytes that were read: the `message` in them, or the `fault` for which there is none.

    In `data` half characters are replaced.
    """

    data: bytes
    message: mcp_types.JSONRPCMessage | None = None
    fault: LineFault | None = None


def read(data: bytes, max_elements: int = MAX_ELEMENTS) -> Read:
    """Read a message. Long ones are to be read by `read_aside`."""
    over = excess(data, max_elements)
    if over is not None:
        if over.of == "depth":
            return Read(data=data, fault=LineFault(kind="protocol", reason=_TOO_DEEP))
        return Read(data=data, fault=LineFault(kind="too_large", reason=f"{over}, which is over the limit"))
    whole = data
    try:
        try:
            message = _message(whole)
        except ValueError:
            fixed = without_lone_surrogates(data)
            if fixed is None:
                raise
            whole, message = fixed, _message(fixed)
    except (ValueError, RecursionError) as error:
        return Read(data=data, fault=LineFault(kind="protocol", reason=why_unreadable(whole, error)))
    parts = message.result.get("content") if isinstance(message, mcp_types.JSONRPCResponse) else None
    if isinstance(parts, list) and len(parts) > MAX_PARTS:
        reason = f"more than {MAX_PARTS} content parts, which is over the limit"
        return Read(data=whole, fault=LineFault(kind="too_large", reason=reason))
    return Read(data=whole, message=message)


async def read_aside(data: bytes, max_elements: int = MAX_ELEMENTS) -> Read:
    """Read a message, in a thread if it is large: other tasks run meanwhile, and time limits end the wait."""
    return read(data, max_elements) if len(data) <= LARGE_BYTES else await asyncio.to_thread(read, data, max_elements)


def _message(data: bytes) -> mcp_types.JSONRPCMessage:
    adapter = mcp_types.jsonrpc_message_adapter
    if len(data) <= LARGE_BYTES and not may_have_odd_number(data):
        return adapter.validate_json(data, by_name=False)
    if _HALF.search(data):  # which Python's parser takes, and no UTF-8 can hold
        data = without_lone_surrogates(data) or data
    return adapter.validate_python(parse(data), by_name=False)


def why_unreadable(line: bytes, error: Exception) -> str:
    """Say in a few words why a line is no message; the parser's own text would quote the whole of it."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"a message that is not UTF-8 at byte {wrong.start}"
    if isinstance(error, RecursionError) or "recursion limit" in str(error):
        return _TOO_DEEP
    if isinstance(error, json.JSONDecodeError) or "Invalid JSON" in str(error):
        return "a message that is not JSON"
    return "a message that is not JSON-RPC"
