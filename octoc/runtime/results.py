"""Cutting long results and wording failures, each in one of two profiles: `octo` and `octopus`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult, Truncation

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

STAGE = "result"
"""The stage under which a cut is recorded; a result that carries it is not cut again."""
OCTOPUS_MAX_TOKENS = 2000
"""Source: Octopus, tool result truncator, its default."""
MASK = "***"
_SHORTEST_SECRET = 4

# Octo names the exception that Python raised; a failure here is a value, so its kind stands for one.
_EXCEPTION_OF: dict[FailureKind, str] = {
    "bad_request": "ValueError",
    "not_found": "LookupError",
    "ambiguous": "LookupError",
    "not_active": "LookupError",
    "not_ready": "RuntimeError",
    "connect_failed": "ConnectionError",
    "connection_lost": "ConnectionError",
    "timeout": "TimeoutError",
    "protocol": "ProtocolError",
    "cancelled": "CancelledError",
    "internal": "RuntimeError",
}


@attrs.frozen(kw_only=True)
class Limits:
    """How much of a result a model sees: in profile `octo` a head of `max_chars`, in `octopus` one of `max_tokens`."""

    profile: str = "octo"
    max_chars: int = 40000
    max_tokens: int = OCTOPUS_MAX_TOKENS


def truncate(result: ToolResult, limits: Limits, counter: TokenCounter) -> ToolResult:
    """Return `result` with its text parts cut to the limit, and one notice where the cut is.

    Text parts share the limit in order; those behind the cut go, which the notice's count includes. Other parts and
    structured content stay as they are. Cutting twice is cutting once. Source: Octo and Octopus, their truncators.
    """
    if any(cut.stage == STAGE for cut in result.truncations):
        return result
    texts = [part.text for part in result.content if part.text is not None]
    chars = sum(map(len, texts))
    if limits.profile == "octopus":
        tokens = counter.count("".join(texts)) if texts else 0
        if tokens <= limits.max_tokens:
            return result
        # An exact counter can find more tokens than a quarter of the characters: then the head is proportionally less.
        kept = min(limits.max_tokens * 4, chars * limits.max_tokens // tokens)
        notice = f"\n[... truncated {tokens - limits.max_tokens} tokens ...]"
        record = Truncation(stage=STAGE, original=tokens, kept=limits.max_tokens, unit="tokens")
    else:
        if chars <= limits.max_chars:
            return result
        kept = limits.max_chars
        notice = (
            f"\n\n... [Result truncated from {chars:,} to {kept:,} chars. Use pagination, more specific queries, "
            "or request smaller chunks to get the remaining data.]"
        )
        record = Truncation(stage=STAGE, original=chars, kept=kept, unit="chars")
    return attrs.evolve(
        result,
        content=tuple(_cut_parts(result.content, kept, notice)),
        truncations=(*result.truncations, record),
    )


def _cut_parts(parts: Sequence[ContentPart], budget: int, notice: str) -> Iterable[ContentPart]:
    done = False
    for part in parts:
        if part.text is None:
            yield part
        elif not done and len(part.text) <= budget:
            budget -= len(part.text)
            yield part
        elif not done:
            done = True
            text = part.text[:budget] + notice
            # The wire object holds the text too, whole.
            data = None if part.data is None else {**part.data, "text": text}
            yield attrs.evolve(part, text=text, data=data)


def failure(
    kind: FailureKind, message: str, *, text: str | None = None, profile: str = "octo", similar: Sequence[str] = ()
) -> ToolFailure:
    """Return a failure whose text is `text`, or `message` in the words of the profile."""
    if text is None:
        text = f"[Error] {message}"
    if profile == "octopus":
        text = _octopus_text(kind, message, similar)
    return ToolFailure(kind=kind, message=message, text=text, similar=tuple(similar))


def worded(found: ToolFailure, tool: str, profile: str) -> ToolFailure:
    """Return a failure of a call, worded for the model that called `tool`."""
    if profile == "octopus":
        return attrs.evolve(found, text=_octopus_text(found.kind, found.message, found.similar))
    return attrs.evolve(found, text=f"[Tool error] {tool}: {exception_of(found)}: {found.message}")


def exception_of(found: ToolFailure) -> str:
    """Return the name of the exception that stands for a failure's kind in Octo's words."""
    return _EXCEPTION_OF[found.kind]


def _octopus_text(kind: FailureKind, message: str, similar: Sequence[str]) -> str:
    body = {"error": kind, "message": message}
    if similar:
        body["hint"] = f"Similar: {', '.join(similar)}"
    return json.dumps(body, ensure_ascii=False)


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without the values of `secrets`; the longest first, so that no end of one is left standing.

    A value under four characters is no secret worth the harm of cutting it out of every word.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    return text
