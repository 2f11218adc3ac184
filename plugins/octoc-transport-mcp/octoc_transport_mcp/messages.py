"""Reads messages: checks limits first, parses large ones in a thread, and replaces lone surrogates."""

from __future__ import annotations

import asyncio
import json
import re

import attrs
import mcp_types

from octoc.plugin import FailureKind, ServerTarget
from octoc.plugin.toolkit import LARGE_BYTES, MAX_ELEMENTS, MAX_LISTING_ELEMENTS, excess, may_have_odd_number, parse
from octoc_transport_mcp.lone_surrogates import without_lone_surrogates

MAX_PARTS = 10_000
"""Maximum content parts of one result: each becomes an object with a hundred times the memory of its bytes."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_TOO_DEEP = "a message that is nested too deep to be read"


@attrs.frozen(kw_only=True)
class LineFault:
    """Why a line is not an answer. It is the data of a JSON-RPC error, as an object, which no server can send.

    `words` are the server's own; they may be about another call than the one that fails.
    """

    kind: FailureKind
    reason: str
    words: str = ""


@attrs.frozen(kw_only=True)
class ElementLimits:
    """Maximum JSON elements of one message: `listing` for an answer to `tools/list`, `message` for any other."""

    message: int = MAX_ELEMENTS
    listing: int = MAX_LISTING_ELEMENTS

    @classmethod
    def of(cls, target: ServerTarget) -> ElementLimits:
        """Return a server's own limits, or the defaults."""
        own = target.max_elements
        return cls() if own is None else cls(message=own, listing=own)


@attrs.frozen(kw_only=True, eq=False)
class ReadResult:
    """The outcome of reading bytes: the `message`, or the `fault` of bytes without one.

    In `data` lone surrogates are replaced.
    """

    data: bytes
    message: mcp_types.JSONRPCMessage | None = None
    fault: LineFault | None = None


def read(data: bytes, max_elements: int = MAX_ELEMENTS) -> ReadResult:
    """Read a message. Use `read_aside` for bytes that may be many."""
    over = excess(data, max_elements)
    if over is not None:
        if over.of == "depth":
            return ReadResult(data=data, fault=LineFault(kind="protocol", reason=_TOO_DEEP))
        return ReadResult(data=data, fault=LineFault(kind="too_large", reason=f"{over}, which is over the limit"))
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
        return ReadResult(data=data, fault=LineFault(kind="protocol", reason=why_unreadable(whole, error)))
    parts = message.result.get("content") if isinstance(message, mcp_types.JSONRPCResponse) else None
    if isinstance(parts, list) and len(parts) > MAX_PARTS:
        reason = f"more than {MAX_PARTS} content parts, which is over the limit"
        return ReadResult(data=whole, fault=LineFault(kind="too_large", reason=reason))
    return ReadResult(data=whole, message=message)


async def read_aside(data: bytes, max_elements: int = MAX_ELEMENTS) -> ReadResult:
    """Read a message, in a thread if it is large, so that other tasks run meanwhile and time limits still apply."""
    return read(data, max_elements) if len(data) <= LARGE_BYTES else await asyncio.to_thread(read, data, max_elements)


def _message(data: bytes) -> mcp_types.JSONRPCMessage:
    adapter = mcp_types.jsonrpc_message_adapter
    if len(data) <= LARGE_BYTES and not may_have_odd_number(data):
        return adapter.validate_json(data, by_name=False)
    if _HALF.search(data):  # Python's parser accepts it, but UTF-8 has no form for it
        data = without_lone_surrogates(data) or data
    return adapter.validate_python(parse(data), by_name=False)


def why_unreadable(line: bytes, error: Exception) -> str:
    """Return in a few words why a line is not a message; the parser's own text would quote the whole line."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"a message that is not UTF-8 at byte {wrong.start}"
    if isinstance(error, RecursionError) or "recursion limit" in str(error):
        return _TOO_DEEP
    if isinstance(error, json.JSONDecodeError) or "Invalid JSON" in str(error):
        return "a message that is not JSON"
    return "a message that is not JSON-RPC"
