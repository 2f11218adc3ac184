"""Which result answers which call, and which messages belong together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape


@attrs.frozen(kw_only=True, eq=False)
class PlacedResult:
    """A result, and the number of the message that it stands in."""

    index: int
    answer: MessageResult


@attrs.define(kw_only=True, eq=False)
class PlacedCall:
    """A call, and the number of the message that it stands in; the first of several `answers` counts."""

    index: int
    call: Call
    answers: list[PlacedResult] = attrs.field(factory=list)


def matched(messages: Sequence[Message], shape: Shape) -> tuple[list[PlacedCall], list[PlacedResult]]:
    """Return the calls in their order, each with its results, and the results without a call.

    A result belongs to the last open call of its id before it, otherwise to the first open one after it, otherwise as a
    further result to the last call of its id.
    """
    calls: list[PlacedCall] = []
    late: list[PlacedResult] = []
    open_calls: dict[str, list[PlacedCall]] = {}
    for index, message in enumerate(messages):
        made = [PlacedCall(index=index, call=call) for call in shape.calls(message)]
        calls += made
        for one in reversed(made):
            open_calls.setdefault(one.call.id, []).append(one)
        for answer in shape.answers(message):
            placed = PlacedResult(index=index, answer=answer)
            waiting = open_calls.get(answer.id)
            if waiting:
                waiting.pop().answers.append(placed)
            else:
                late.append(placed)
    waiting_from_first = {name: sorted(left, key=lambda one: -one.index) for name, left in open_calls.items()}
    last = {one.call.id: one for one in calls}
    orphans: list[PlacedResult] = []
    for placed in late:
        waiting = waiting_from_first.get(placed.answer.id)
        if waiting and waiting[-1].index >= placed.index:
            waiting.pop().answers.append(placed)
        elif placed.answer.id in last:
            last[placed.answer.id].answers.append(placed)
        else:
            orphans.append(placed)
    return calls, orphans


def turns_of_the_model(messages: Sequence[Message], shape: Shape) -> list[range]:
    """Return ranges over all messages, in order; messages of one turn of the model share a range."""
    spans: list[range] = []
    joins = False
    for index, message in enumerate(messages):
        models = shape.one_turn_is_many and shape.is_models(message)
        if models and joins:
            spans[-1] = range(spans[-1].start, index + 1)
        else:
            spans.append(range(index, index + 1))
        joins = models
    return spans


def message_groups(messages: Sequence[Message], shape: Shape) -> list[tuple[int, ...]]:
    """Return the groups of messages that are dropped together, by number, ordered by the first of each group."""
    parent = list(range(len(messages)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    def join(one: int, other: int) -> None:
        first, second = sorted((root(one), root(other)))
        parent[second] = first

    for span in turns_of_the_model(messages, shape):
        for index in span:
            join(span.start, index)
    for call in matched(messages, shape)[0]:
        for placed in call.answers:
            join(call.index, placed.index)
    groups: dict[int, list[int]] = {}
    for index in range(len(messages)):
        groups.setdefault(root(index), []).append(index)
    return [tuple(groups[first]) for first in sorted(groups)]
