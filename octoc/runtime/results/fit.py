"""Fit results into limits, in the words of profiles `octo` and `octopus`; `fit_json` does it for `octoc`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs

from octoc.names import ToolId
from octoc.results import ContentPart, ToolFailure, ToolResult, Truncation
from octoc.runtime.results.json_cut import whole
from octoc.runtime.results.limits import ResultLimits
from octoc.runtime.results.parts import STAGE, Keep, document_of, is_large, text_of, transport_cut, with_text
from octoc.runtime.shares import account_of
from octoc.runtime.skills.available import available_skills
from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter
    from octoc.runtime.state import SessionState
    from octoc.runtime.tools.server_call import Outcome

_CHARS_PER_TOKEN = 4
"""The head is that many characters per token of the limit. Source: Octopus, tool result truncator."""


async def fit(session: SessionState, outcome: Outcome, tool: ToolId | None) -> Outcome:
    """Return an outcome cut to the limit for `tool`; None means one of octoc's own tools."""
    if isinstance(outcome, ToolFailure):
        return outcome
    kept: dict[str, tuple[str, ...]] = {}
    cut = partial(truncate, outcome, *limits_for(session, tool), keep_of(session, tool, kept))
    if is_large(outcome):
        import asyncio

        # In a thread, so that it does not block the event loop. If this task is cancelled, the thread still ends, and
        # the text that it stored expires or ends with the session.
        fitted = await asyncio.to_thread(cut)
    else:
        fitted = cut()
    if not kept or session.shared_results is None:
        return fitted
    from octoc.runtime.results.shared import share

    return await share(session, fitted, tool, kept)


def keep_of(session: SessionState, tool: ToolId | None, kept: dict[str, tuple[str, ...]] | None = None) -> Keep:
    """Return the function that stores texts of `tool` for a session, in its account's share of the store.

    Args:
        kept: gets the texts that were stored, by handle.
    """

    def keep(texts: tuple[str, ...]) -> str | None:
        handle = session.runtime.results.keep(session.number, texts, account=account_of(session.caller), source=tool)
        if handle is not None:
            session.has_stored = True
            if kept is not None:
                kept[handle] = texts
        return handle

    return keep


def keep_aged(session: SessionState, text: str, name: str) -> str | None:
    """Store an old result of the tool that the model called `name`. Returns its handle, None if it is not stored."""
    if not reads_results(session):
        return None
    index = session.tools.names().resolve(name)
    return keep_of(session, session.loaded.catalog[index].id if isinstance(index, int) else None)((text,))


def is_readable(session: SessionState, source: Hashable) -> bool:
    """Return whether a session may still read texts of a source: not those of a tool that a reload removed."""
    return not isinstance(source, ToolId) or session.tools.scope.may_have(source)


def limits_for(session: SessionState, tool: ToolId | None) -> tuple[ResultLimits, TokenCounter]:
    """Return the limits of a result of `tool`, and the counter of its tokens; None means one of octoc's own tools."""
    limits = session.tools.scope.limits.of(tool)
    # The workspace's counter loads plugins, which a limit in characters does not need.
    return limits, session.counter if limits.tokens else APPROXIMATE


def reads_results(session: SessionState) -> bool:
    """Return whether the session has `read_result`: results are stored, and the agent has tools that return some."""
    registry = session.tools.registry
    has_tools = registry.proxy or registry.tools or registry.unlisted_direct or session.tools.switchable
    return session.runtime.results.enabled and bool(has_tools or available_skills(session))


def truncate(result: ToolResult, limits: ResultLimits, counter: TokenCounter, keep: Keep | None = None) -> ToolResult:
    """Return `result` cut to the limit, with exactly one notice if anything is missing.

    The tighter of the limits in characters and in tokens counts, without the notice. Bytes that the transport did not
    read count as missing. `keep` stores the whole result, whose handle is in the returned one. A result that was cut is
    not cut again.

    `fit_json` describes profile `octoc`. In `octo` and `octopus`, text parts and the texts of embedded resources share
    the limit in order, those after the cut are dropped, media stay, and structured content is dropped if it exceeds the
    limit by itself. Source: Octo and Octopus, their truncators.
    """
    if any(cut.stage == STAGE for cut in result.truncations):
        return result
    if limits.profile == "octoc":
        from octoc.runtime.results.fit_json import cut_sampled

        return cut_sampled(result, limits, counter, keep)
    texts = [text for part in result.content if (text := text_of(part)) is not None]
    text = "".join(texts)
    tokens = counter.count(text) if limits.tokens and texts else 0
    head = _head(text, tokens, limits, counter)
    structured = "" if result.structured is None else whole(result.structured)
    structured_tokens = counter.count(structured) if limits.tokens and structured else 0
    if len(structured) <= limits.max_chars and structured_tokens <= limits.tokens:
        structured, structured_tokens = "", 0
    dropped = transport_cut(result)
    missing = 0 if dropped is None else max(0, dropped.original - dropped.kept)
    if head == len(text) and not structured and not missing:
        return result
    if limits.profile == "octopus":
        original = tokens + structured_tokens + missing // _CHARS_PER_TOKEN
        kept = min(tokens, limits.tokens)
        if head < len(text) and head == limits.max_chars:
            kept = min(kept, counter.count(text[:head]))
        notice = f"\n[... truncated {original - kept} tokens ...]"
        record = Truncation(stage=STAGE, original=original, kept=kept, unit="tokens")
    else:
        original = len(text) + len(structured) + missing
        notice = (
            f"\n\n... [Result truncated from {original:,} to {head:,} chars. Use pagination, more specific queries, "
            "or request smaller chunks to get the remaining data.]"
        )
        record = Truncation(stage=STAGE, original=original, kept=head, unit="chars")
    return attrs.evolve(
        result,
        content=tuple(_cut_parts(result.content, head, notice)),
        structured=None if structured else result.structured,
        truncations=(*result.truncations, record),
        handle=keep(document_of(result)) if keep is not None and (structured or head < len(text)) else None,
    )


def _head(text: str, tokens: int, limits: ResultLimits, counter: TokenCounter) -> int:
    """Return how many characters of `text`, which has `tokens` tokens, stay."""
    head = min(len(text), limits.max_chars)
    if tokens <= limits.tokens:
        return head
    # An exact counter may count more than one token per four characters; then the head is proportionally shorter.
    head = min(head, limits.tokens * _CHARS_PER_TOKEN, len(text) * limits.tokens // tokens)
    while head and (count := counter.count(text[:head])) > limits.tokens:
        head = min(head - 1, head * limits.tokens // count)
    return head


def _cut_parts(parts: Sequence[ContentPart], budget: int, notice: str) -> Iterable[ContentPart]:
    """Yield the parts up to `budget` characters of text, and the notice at the end of the last text that stays."""
    last = _last_kept(parts, budget)
    if last is None:
        yield from parts
        yield ContentPart(type="text", text=notice.lstrip("\n"))
        return
    for index, part in enumerate(parts):
        text = text_of(part)
        if text is None:
            yield part
        elif index < last:
            budget -= len(text)
            yield part
        elif index == last:
            yield with_text(part, text[:budget] + notice)


def _last_kept(parts: Sequence[ContentPart], budget: int) -> int | None:
    last = None
    for index, part in enumerate(parts):
        text = text_of(part)
        if text is None:
            continue
        last = index
        if len(text) > budget:
            break
        budget -= len(text)
    return last
