"""Three ways to shorten a conversation: drop the oldest groups, keep the last turns, or summarize old groups."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.history.fit import KEEP_TURNS, FittedConversation, Ledger, message_tokens
from octoc.runtime.history.shapes import Message, Shape, shape_of

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

logger = logging.getLogger("octoc.history")

Summarizer = Callable[[Sequence[Any]], str | Awaitable[str]]
"""Takes the messages to be replaced, in the shape of the list; returns a text for them, or an awaitable of one."""

SUMMARY = "[Summary of {count} earlier messages]\n{text}"


@attrs.frozen(kw_only=True)
class Fifo:
    """Drop the oldest groups until the rest fits. Source: Octopus."""


@attrs.frozen(kw_only=True)
class SlidingWindow:
    """Drop all before the user's last `turns` turns, and more while the rest does not fit. Source: Octopus."""

    turns: int = attrs.field(validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class Summarize:
    """Replace the oldest `share` of the groups by one summary if the list is over the budget. Source: Octopus.

    It drops the oldest groups instead, with the reason in `FittedConversation.problem`, if the summarizer fails or
    returns no text, or if its text is longer than the groups or than the room for it.
    """

    summarizer: Summarizer = attrs.field(repr=False)
    share: float = attrs.field(default=0.3, validator=[attrs.validators.gt(0), attrs.validators.le(1)])


Pruner = Fifo | SlidingWindow | Summarize
FIFO = Fifo()


def prune(
    messages: Sequence[Message],
    budget: int,
    counter: TokenCounter,
    *,
    window: SlidingWindow | None = None,
    keep_turns: int = KEEP_TURNS,
    shape: Shape | None = None,
) -> FittedConversation:
    """Drop the oldest groups of a conversation until the rest fits `budget` tokens, and record what was dropped.

    A group is a message, or calls of the model with all their results: it is dropped or kept as a whole. These stay
    even over the budget: system messages, the user's messages in the last `keep_turns` turns, and the last group.
    Other groups of those turns are dropped only after all older ones. A list for Anthropic must begin with a message
    of the user, so more groups may be dropped than the budget requires.
    """
    shape = shape or shape_of(messages)
    ledger = Ledger(messages, shape, counter, keep_turns)
    at_least = 0
    if window is not None:
        window_from = ledger.start_of_turns(window.turns)
        at_least = sum(group[-1] < window_from for group in ledger.removable[: ledger.old])
    return _dropped(ledger, ledger.fewest_to_drop(budget, at_least), budget)


async def fit(
    messages: Sequence[Message],
    budget: int,
    counter: TokenCounter,
    *,
    pruner: Pruner = FIFO,
    keep_turns: int = KEEP_TURNS,
    shape: Shape | None = None,
) -> FittedConversation:
    """Shorten a conversation to `budget` tokens with `pruner`; the rules of `prune` hold for every pruner."""
    shape = shape or shape_of(messages)
    if not isinstance(pruner, Summarize):
        window = pruner if isinstance(pruner, SlidingWindow) else None
        return prune(messages, budget, counter, window=window, keep_turns=keep_turns, shape=shape)

    ledger = Ledger(messages, shape, counter, keep_turns)
    count = math.ceil(pruner.share * sum(not ledger.system.intersection(group) for group in ledger.groups))
    groups = ledger.removable[: min(count, ledger.old)]
    if ledger.total <= budget or not groups:
        return _dropped(ledger, ledger.fewest_to_drop(budget), budget)
    text, problem = await _summary(pruner, [messages[index] for group in groups for index in group])
    summary = shape.written(SUMMARY.format(count=sum(map(len, groups)), text=text))
    if not problem and message_tokens(summary, shape, counter) >= ledger.cost_of(groups):
        problem = "the summary is not shorter than the messages that it replaces"
    fitted = None if problem else _with_summary(ledger, groups, summary, budget)
    if fitted is not None and fitted.fits:
        return fitted
    without = _dropped(ledger, ledger.fewest_to_drop(budget), budget)
    if fitted is not None and not without.fits:
        return fitted  # the messages that must stay exceed the budget by themselves
    problem = problem or "there is no room for the summary"
    logger.warning("not summarized: %s; the oldest messages are dropped instead", problem)
    return attrs.evolve(without, problem=problem)


def _dropped(ledger: Ledger, count: int, budget: int) -> FittedConversation:
    dropped = ledger.removable[:count]
    gone = {index for group in dropped for index in group}
    tokens = ledger.total - ledger.cost_of(dropped)
    return FittedConversation(
        messages=[message for index, message in enumerate(ledger.messages) if index not in gone],
        budget=budget,
        counter=ledger.counter.name,
        tokens_before=ledger.total,
        tokens=tokens,
        dropped=tuple(dropped),
        why_over=ledger.why_over(tokens, budget, count),
    )


async def _summary(pruner: Summarize, messages: list[Message]) -> tuple[str, str]:
    """Return the summary, or else why the summarizer gave none."""
    try:
        answer = pruner.summarizer(messages)
        text: Any = await answer if inspect.isawaitable(answer) else answer
    except Exception as error:  # noqa: BLE001  # the host's own function: its failure must not lose the conversation
        logger.warning("the summarizer raised `%s`", type(error).__name__)  # its text may quote the conversation
        return "", "the summarizer failed"
    if not isinstance(text, str) or not text.strip():
        return "", "the summarizer gave no text"
    return text, ""


def _with_summary(ledger: Ledger, groups: list[tuple[int, ...]], summary: Message, budget: int) -> FittedConversation:
    gone = {index for group in groups for index in group}
    place = min(gone)
    left = [index for index in range(len(ledger.messages)) if index == place or index not in gone]
    messages = [summary if index == place else ledger.messages[index] for index in left]
    shorter = Ledger(messages, ledger.shape, ledger.counter, ledger.keep_turns, held={left.index(place)})
    fitted = _dropped(shorter, shorter.fewest_to_drop(budget), budget)
    return attrs.evolve(
        fitted,
        tokens_before=ledger.total,
        dropped=tuple(tuple(left[index] for index in group) for group in fitted.dropped),
        summarized=tuple(groups),
    )
