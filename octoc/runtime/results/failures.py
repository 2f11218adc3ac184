"""The text of a failure for a model, in the words of each profile.

Profile `octo` uses Octo's strings, which name Python's exceptions, `octopus` the objects of Octopus; `octoc` names the
tool and what failed. In MCP's wire form, `octoc` has the failure's own line instead, as MCP itself marks errors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeGuard

import attrs

from octoc.plain_text import plain_error
from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.values import whole_characters

OCTOPUS_INTERNAL = ("internal_error", "An internal error occurred. Please try again.")
"""Octopus's text for an unexpected exception, whose details go to the log. Source: Octopus, tool registration."""
META_KIND, META_RETRY, META_HANDLE = "octoc/kind", "octoc/retryAfter", "octoc/handle"
"""Keys of `_meta` in an outcome as MCP's wire object: the failure's kind, seconds, the handle of the whole result."""

MAY_HAVE = "it may have taken effect"
"""Part of every failure of a call that was sent and whose answer was lost."""
_LOST: frozenset[FailureKind] = frozenset({
    "connection_lost", "timeout", "cancelled", "too_large", "protocol", "internal",
})  # fmt: skip
TOOL_EXCEPTION, RPC_EXCEPTION = "ToolException", "McpError"
"""The exceptions of Octo's client for `isError` and for a JSON-RPC error. Source: langchain-mcp-adapters."""

# Octo names the exception that Python raised; here the kind of a failure gives the name.
_EXCEPTION_OF: dict[FailureKind, str] = {
    "bad_request": "ValueError",
    "not_found": "LookupError",
    "ambiguous": "LookupError",
    "not_active": "LookupError",
    "not_ready": "RuntimeError",
    "unauthorized": "PermissionError",
    "changed": "PermissionError",
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
        text: the text of profiles `octoc` and `octo` instead of the message.
        field: the wrong argument, by Octopus's name.
        sent: whether a server may have begun the call.
    """
    # The message may quote the model or a server.
    message = plain_error(whole_characters(message))
    if profile == "octopus":
        text = _octopus_text(kind, message, similar, retry_after_s, field)
    elif text is None:
        text = with_retry(f"[Error] {message}", retry_after_s)
    text = plain_error(whole_characters(text))
    return ToolFailure(
        kind=kind, message=message, text=text, similar=tuple(similar), retry_after_s=retry_after_s, sent=sent
    )


def worded(failed: ToolFailure, tool: str, profile: str, *, sent_before: bool = False) -> ToolFailure:
    """Return a failure of a call, worded for the model that called `tool`. Source: Octo, call_mcp_tool.

    `sent_before`: an earlier try of the same call was sent and got no answer.
    """
    message = plain_error(failed.message)
    is_lost = sent_before or (failed.sent and failed.kind in _LOST)
    if is_lost and MAY_HAVE not in message:
        message = f"{message}; {MAY_HAVE}"
    failed = attrs.evolve(failed, message=message, sent=failed.sent or sent_before)
    if profile == "octopus":
        text = _octopus_text(failed.kind, message, failed.similar, failed.retry_after_s, is_lost=is_lost)
    elif profile == "octo":
        text = with_retry(f"[Tool error] {tool}: {exception_of(failed)}: {message}", failed.retry_after_s)
    else:
        text = with_retry(f"[Tool error] {tool}: {message}", failed.retry_after_s)
    return attrs.evolve(failed, text=text)


def named_error(result: ToolResult, tool: str, *, explainer_failed: bool = False) -> ToolResult:
    """Return a result that is an error as Octo words it: with the tool's name; structured content stays.

    `explainer_failed`: an explainer was asked and failed. Source: Octo, call_mcp_tool and its workers' middleware.
    """
    name = TOOL_EXCEPTION if result.rpc_code is None else RPC_EXCEPTION
    text = f"[Tool error] {tool}{' failed' if explainer_failed else ''}: {name}: {result.text}"
    return attrs.evolve(result, content=(ContentPart(type="text", text=text),))


def explained(explanation: str, failed: ToolFailure | None, profile: str) -> str:
    """Return the text of a failed call that was explained; `failed` None means a tool's own error.

    Source: Octo, the error middleware of its workers.
    """
    retry_after_s = None if failed is None else failed.retry_after_s
    explanation = plain_error(explanation)
    if failed is not None and MAY_HAVE in failed.message and MAY_HAVE not in explanation:
        explanation = f"{explanation.rstrip('.')}; {MAY_HAVE}"
    if profile == "octopus":
        return _octopus_body("tool_error" if failed is None else failed.kind, explanation, (), retry_after_s)
    return with_retry(f"[Tool error] {explanation}", retry_after_s)


def unexplained(failed: ToolFailure, tool: str) -> str:
    """Return the text of a failure whose explainer failed. Source: Octo, the error middleware of its workers."""
    return with_retry(f"[Tool error] {tool} failed: {exception_of(failed)}: {failed.message}", failed.retry_after_s)


def exception_of(failed: ToolFailure) -> str:
    """Return the name of the exception that stands for a failure's kind in Octo's words."""
    return _EXCEPTION_OF[failed.kind]


def with_retry(text: str, retry_after_s: float | None) -> str:
    """Return `text`, with the whole seconds until another try may help if they are known."""
    if not _is_wait(retry_after_s):
        return text
    end = "" if text.endswith((".", "!", "?", "\n")) else ";"
    word = "try" if end else "Try"
    return f"{text}{end} {word} again in {math.ceil(retry_after_s)} s"


def _is_wait(seconds: float | None) -> TypeGuard[float]:
    return seconds is not None and 0 < seconds < math.inf


def as_mcp_result(outcome: ToolResult | ToolFailure, profile: str = "octoc") -> dict[str, Any]:
    """Return an outcome as MCP's CallToolResult in wire form (camelCase keys), always with `isError`.

    A failure is one text part: its text in profiles `octo` and `octopus`, otherwise its message with near names and the
    seconds to wait. `_meta` has its kind and these seconds too.
    """
    if isinstance(outcome, ToolFailure):
        text = outcome.message
        if outcome.similar:
            text += f"; near names: {', '.join(outcome.similar)}"
        text = with_retry(text, outcome.retry_after_s) if profile == "octoc" else outcome.text
        meta: dict[str, Any] = {META_KIND: outcome.kind}
        if _is_wait(outcome.retry_after_s):
            meta[META_RETRY] = outcome.retry_after_s
        content = [{"type": "text", "text": text}]
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
    kind: FailureKind,
    message: str,
    similar: Sequence[str],
    retry_after_s: float | None,
    field: str | None = None,
    *,
    is_lost: bool = False,
) -> str:
    if kind != "internal":
        return _octopus_body(kind, message, similar, retry_after_s, field)
    kind_word, message = OCTOPUS_INTERNAL
    # The fixed message advises to try again; the hint tells why that may be wrong.
    return _octopus_body(kind_word, message, similar, retry_after_s, field, MAY_HAVE if is_lost else None)


def _octopus_body(
    error: str,
    message: str,
    similar: Sequence[str],
    retry_after_s: float | None,
    field: str | None = None,
    hint: str | None = None,
) -> str:
    body: dict[str, Any] = {"error": error, "message": message}
    if similar or hint:
        body["hint"] = f"Similar: {', '.join(similar)}" if similar else hint
    if field is not None:
        body["field"] = field
    if _is_wait(retry_after_s):
        body["retry_after"] = math.ceil(retry_after_s)
    return json.dumps(body, ensure_ascii=False)
