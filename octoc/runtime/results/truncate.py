"""Cutting long results, in each of two profiles: `octo` and `octopus`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.results import ContentPart, ToolResult, Truncation

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

STAGE = "result"
"""The stage under which a cut is recorded; a result that carries it is not cut again."""
OCTOPUS_MAX_TOKENS = 2000
"""Source: Octopus, tool result truncator, its default."""


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
