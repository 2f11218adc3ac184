"""Repair a foreign or damaged conversation so that its API accepts it: each call is followed by its result, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import attrs

from octoc.runtime.history.groups import PlacedCall, matched, turns_of_the_model
from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape

INTERRUPTED = "[Tool call interrupted — connection was lost before execution]"
"""The result of a call that has none. Source: Octo."""
NO_BEGINNING = "[The beginning of this conversation is missing]"

RepairKind = Literal[
    "interrupted",  # a call without a result got one that reports the interruption
    "orphan",  # a result without a call was removed
    "duplicate_call",  # the copy of a call was removed
    "duplicate_result",  # a second result of one call was removed
    "renamed",  # a call whose id was empty or taken got a new id, and so did its result
    "moved",  # a result was moved to the place after its call
    "empty",  # a message without content, or a message's empty list of calls, was removed
    "beginning",  # a message of the user was added before the first, as the API requires one there
    "dangling",  # reasoning without the item that follows from it was removed
]


@attrs.frozen(kw_only=True)
class Repair:
    """One repair of the call or result `id`, in message number `index` of the given list."""

    kind: RepairKind
    index: int
    id: str = ""


@attrs.frozen(kw_only=True)
class RepairedConversation:
    """A conversation that its API accepts, and all repairs; a sound conversation is returned unchanged."""

    messages: list[Any]
    repairs: tuple[Repair, ...] = ()


def repair(messages: Sequence[Message], shape: Shape) -> RepairedConversation:
    """Return the conversation with each call followed by its result, once, and nothing that its API refuses.

    Texts are not changed. A call without a result counts as interrupted, even if the host is about to make it: repair a
    stored conversation before continuing it.
    """
    return _Repairer(messages, shape).run()


class _Repairer:
    def __init__(self, messages: Sequence[Message], shape: Shape) -> None:
        self.messages = messages
        self.shape = shape
        self.done: list[Repair] = []
        self.placed, self.orphans = matched(messages, shape)

    def run(self) -> RepairedConversation:
        for orphan in self.orphans:
            self._note("orphan", orphan.index, orphan.answer.id)
        self._take_duplicates_out()
        self.calls: dict[int, list[tuple[Call, PlacedCall]]] = {}
        for call, placed in self._with_own_ids():
            self.calls.setdefault(placed.index, []).append((call, placed))
        out = self._rebuilt()
        settled = self.shape.settled(out)
        dangling = {id(message) for message in out} - {id(message) for message in settled}
        for index, message in enumerate(self.messages):
            if id(message) in dangling:
                self._note("dangling", index)
        out = self._begun(settled)
        return RepairedConversation(messages=out, repairs=tuple(sorted(self.done, key=lambda one: one.index)))

    def _note(self, kind: RepairKind, index: int, name: str = "") -> None:
        self.done.append(Repair(kind=kind, index=index, id=name))

    def _take_duplicates_out(self) -> None:
        """Leave out copies of a call, which have its id and text; a call that has a result is preferred."""
        alike: dict[tuple[str, str], list[PlacedCall]] = {}
        for placed in self.placed:
            alike.setdefault((placed.call.id, placed.call.text), []).append(placed)
        out: set[int] = set()
        for same in alike.values():
            kept = {id(placed) for placed in same if placed.answers} or {id(same[0])}
            for placed in same:
                if id(placed) not in kept:
                    out.add(id(placed))
                    self._note("duplicate_call", placed.index, placed.call.id)
        self.placed = [placed for placed in self.placed if id(placed) not in out]
        for placed in self.placed:
            for answer in placed.answers[1:]:
                self._note("duplicate_result", answer.index, answer.answer.id)

    def _with_own_ids(self) -> Iterator[tuple[Call, PlacedCall]]:
        taken = {placed.call.id for placed in self.placed}
        seen: set[str] = set()
        numbers: dict[str, int] = {}
        for placed in self.placed:
            call = placed.call
            if not call.id or call.id in seen:
                number = numbers.get(call.id, 2)
                while (name := f"{call.id or 'call'}_{number}") in taken:
                    number += 1
                numbers[call.id] = number
                taken.add(name)
                call = attrs.evolve(call, id=name)
                self._note("renamed", placed.index, placed.call.id)
            seen.add(call.id)
            yield call, placed

    def _rebuilt(self) -> list[Message]:
        out: list[Message] = []
        passed: set[int] = set()
        for span in turns_of_the_model(self.messages, self.shape):
            for index in span:
                if index in passed:
                    continue
                if self.shape.is_empty(self.messages[index]):
                    self._note("empty", index)
                    continue
                message = self.messages[index]
                kept = self.shape.with_calls(message, [call for call, _ in self.calls.get(index, ())])
                if kept is not message and not self.shape.calls(message) and not self.shape.answers(message):
                    self._note("empty", index)
                if kept is not None:
                    out.append(kept)
            made = [pair for index in span for pair in self.calls.get(index, ())]
            if not made:
                continue
            standing = self._standing(span.stop, made)
            if standing is not None:
                out += [self.messages[index] for index in standing]
                passed.update(standing)
            else:
                out += self.shape.with_answers(self._answers(made, span.stop))
        return out

    def _standing(self, start: int, made: list[tuple[Call, PlacedCall]]) -> range | None:
        """Return the messages right after the calls that bring exactly their results; None if they do not."""
        if any(not placed.answers or call is not placed.call for call, placed in made):
            return None
        missing = {id(placed.answers[0].answer.raw) for _, placed in made}
        end = start
        while missing and end < len(self.messages):
            message = self.messages[end]
            answers = self.shape.answers(message)
            brought = {id(answer.raw) for answer in answers}
            if not brought or len(brought) < len(answers) or not brought <= missing or self.shape.calls(message):
                return None
            if not self.shape.answers_stand(message):
                return None
            missing -= brought
            end += 1
        if missing or (self.shape.answers_share_a_message and end - start > 1):
            return None
        return range(start, end)

    def _answers(self, made: list[tuple[Call, PlacedCall]], stop: int) -> list[MessageResult]:
        end = stop
        while end < len(self.messages) and self.shape.answers(self.messages[end]):
            end += 1
        answers = []
        for call, placed in made:
            if not placed.answers:
                self._note("interrupted", placed.index, placed.call.id)
                answers.append(self.shape.answer_of(call, INTERRUPTED))
                continue
            first = placed.answers[0]
            if not stop <= first.index < end:
                self._note("moved", first.index, first.answer.id)
            answers.append(attrs.evolve(first.answer, id=call.id))
        return answers

    def _begun(self, messages: list[Message]) -> list[Message]:
        if not self.shape.starts_with_user:
            return messages
        first = next((place for place, one in enumerate(messages) if not self.shape.is_system(one)), None)
        if first is None or self.shape.is_users_own(messages[first]):
            return messages
        self._note("beginning", 0)
        return [*messages[:first], self.shape.written(NO_BEGINNING), *messages[first:]]
