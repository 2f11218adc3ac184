"""Wording failures for a model, in the words of each profile.

Profile `octo` has Octo's strings, `octopus` the objects of Octopus; `octoc` says what Octo says. An outcome as MCP's
wire object has neither's: its words are the failure's own line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeGuard

import attrs

from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.values import whole_characters

OCTOPUS_INTERNAL = ("internal_error", "An internal error occurred. Please try again.")
"""What Octopus shows of an unexpected exception: the details are for the log. Source: Octopus, tool registration."""
META_KIND, META_RETRY, META_HANDLE = "octoc/kind", "octoc/retryAfter", "octoc/handle"
"""Keys of `_meta` in an outcome as MCP's wire object: the failure's kind, seconds, the handle of the whole result."""

# Octo names the exception that Python raised; a failure here is a value, so its kind stands for one.
_EXCEPTION_OF: dict[FailureKind, str] = {
    "bad_request": "ValueError",
    "not_found": "LookupError",
    "ambiguous": "LookupError",
    "not_active": "LookupError",
    "not_ready": "RuntimeError",
    "unauthorized": "PermissionError",
    "unavailable": "RuntimeError",
    "rate_limited": "RuntimeError",
    "connect_failed": "ConnectionError",
    "connection_lost": "ConnectionError",
    "timeout": "TimeoutError",
    "too_large": "ValueError",
    "protocol": "ProtocolError",
    "cancelled": "CancelledError",
    "internal": "RuntimeError",
}


def failure(
    kind: FailureKind,
    message: str,
    *,
    text: str | None = None,
    profile: str = "octoc",
    similar: Sequence[str] = (),
    retry_after_s: float | None = None,
    field: str | None = None,
    sent: bool = False,
) -> ToolFailure:
    """Return a failure whose text is `text`, or `message` in the words of the profile.

    Args:
        text: what profiles `octoc` and `octo` show instead of the message.
        field: the argument that is wrong, as Octopus names it.
        sent: whether a server may have begun the call.
    """
    if profile == "octopus":
        text = _octopus_text(kind, message, similar, retry_after_s, field)
    elif text is None:
        text = with_retry(f"[Error] {message}", retry_after_s)
    message, text = whole_characters(message), whole_characters(text)  # a model's own words may be part of them
    return ToolFailure(
        kind=kind, message=message, text=text, similar=tuple(similar), retry_after_s=retry_after_s, sent=sent
    )


def worded(found: ToolFailure, tool: str, profile: str) -> ToolFailure:
    """Return a failure of a call, worded for the model that called `tool`. Source: Octo, call_mcp_tool."""
    if profile == "octopus":
        text = _octopus_text(found.kind, found.message, found.similar, found.retry_after_s)
    else:
        text = with_retry(f"[Tool error] {tool}: {exception_of(found)}: {found.message}", found.retry_after_s)
    return attrs.evolve(found, text=text)


def explained(explanation: str, found: ToolFailure | None, profile: str) -> str:
    """Return the text of a failed call that was explained; `found` None is a tool's own error.

    Source: Octo, the error middleware of its workers.
    """
    retry_after_s = None if found is None else found.retry_after_s
    if profile == "octopus":
        return _octopus_body("tool_error" if found is None else found.kind, explanation, (), retry_after_s)
    return with_retry(f"[Tool error] {explanation}", retry_after_s)


def unexplained(found: ToolFailure, tool: str) -> str:
    """Return the text of a failure whose explainer failed. Source: Octo, the error middleware of its workers."""
    return with_retry(f"[Tool error] {tool} failed: {exception_of(found)}: {found.message}", found.retry_after_s)


def exception_of(found: ToolFailure) -> str:
    """Return the name of the exception that stands for a failure's kind in Octo's words."""
    return _EXCEPTION_OF[found.kind]


def with_retry(text: str, retry_after_s: float | None) -> str:
    """Return `text` and, when it is known, after how many whole seconds another try may help."""
    if not _is_wait(retry_after_s):
        return text
    end = "" if text.endswith((".", "!", "?", "\n")) else ";"
    word = "try" if end else "Try"
    return f"{text}{end} {word} again in {math.ceil(retry_after_s)} s"


def _is_wait(seconds: float | None) -> TypeGuard[float]:
    return seconds is not None and 0 < seconds < math.inf


def as_mcp_result(outcome: ToolResult | ToolFailure) -> dict[str, Any]:
    """Return an outcome as MCP's CallToolResult in wire form (camelCase keys), `isError` always there.

    A failure is one text part that is its message, near names and seconds to wait included; its kind and these seconds
    stand in `_meta` too. The text of a profile is left out: MCP has no such words.
    """
    if isinstance(outcome, ToolFailure):
        text = outcome.message
        if outcome.similar:
            text += f"; near names: {', '.join(outcome.similar)}"
        meta: dict[str, Any] = {META_KIND: outcome.kind}
        if _is_wait(outcome.retry_after_s):
            meta[META_RETRY] = outcome.retry_after_s
        content = [{"type": "text", "text": with_retry(text, outcome.retry_after_s)}]
        return {"content": content, "isError": True, "_meta": meta}
    wire: dict[str, Any] = {"content": [_part_wire(part) for part in outcome.content], "isError": outcome.is_error}
    if outcome.structured is not None:
        wire["structuredContent"] = outcome.structured
    if outcome.handle is not None:
        wire["_meta"] = {META_HANDLE: outcome.handle}
    return wire


def _part_wire(part: ContentPart) -> dict[str, Any]:
    wire = dict(part.data or {})
    if part.text is not None:
        wire["text"] = part.text
    return {"type": part.type, **wire}


def _octopus_text(
    kind: FailureKind, message: str, similar: Sequence[str], retry_after_s: float | None, field: str | None = None
) -> str:
    if kind == "internal":
        kind_word, message = OCTOPUS_INTERNAL
        return _octopus_body(kind_word, message, similar, retry_after_s, field)
    return _octopus_body(kind, message, similar, retry_after_s, field)


def _octopus_body(
    error: str, message: str, similar: Sequence[str], retry_after_s: float | None, field: str | None = None
) -> str:
    body: dict[str, Any] = {"error": error, "message": message}
    if similar:
        body["hint"] = f"Similar: {', '.join(similar)}"
    if field is not None:
        body["field"] = field
    if _is_wait(retry_after_s):
        body["retry_after"] = math.ceil(retry_after_s)
    return json.dumps(body, ensure_ascii=False)
