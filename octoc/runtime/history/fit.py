"""Which groups of a conversation may be dropped to fit a budget of tokens, and the record of a fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.history.groups import message_groups
from octoc.runtime.history.shapes.base import Message, Shape

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

KEEP_TURNS = 3
"""The user's last turns, whose requests stay even over the budget. Source: Octopus, MinHistoryTurns."""
MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beyond its text. Source: Octopus, approximate counter."""


@attrs.frozen(kw_only=True)
class FittedConversation:
    """A conversation after pruning, and what was done to it.

    Args:
        messages: the messages that stay, in order and unchanged, and the new summary if there is one.
        budget: the most tokens that they should cost.
        tokens_before, tokens: the cost of all messages, and of those that stay, as `counter` counts.
        dropped: the dropped groups, each the numbers of its messages in the given list.
        summarized: the groups that one summary replaces.
        why_over: why the messages that stay are over the budget; empty if they fit.
        problem: what failed, such as the summarizer; empty if nothing did.
    """

    messages: list[Any]
    budget: int
    counter: str
    tokens_before: int
    tokens: int
    dropped: tuple[tuple[int, ...], ...] = ()
    summarized: tuple[tuple[int, ...], ...] = ()
    why_over: str = ""
    problem: str = ""

    @property
    def fits(self) -> bool:
        """The budget is met."""
        return self.tokens <= self.budget


def message_tokens(message: Message, shape: Shape, counter: TokenCounter) -> int:
    """Return the tokens of a message: its texts, its calls with their arguments, its results. Images count nothing."""
    return counter.count("".join(shape.texts(message))) + MESSAGE_OVERHEAD


class Ledger:
    """The cost of each message, and the groups that may be dropped, the oldest first.

    System messages stay, and so do groups of the `held` messages. The groups before the user's last `keep_turns`
    messages go first; `old` counts them. Next come groups within those turns, so that one request with a long loop of
    calls fits; the user's own messages and the last group stay.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        shape: Shape,
        counter: TokenCounter,
        keep_turns: int,
        held: Collection[int] = (),
    ) -> None:
        self.messages = messages
        self.shape = shape
        self.counter = counter
        self.keep_turns = keep_turns
        self.costs = [message_tokens(message, shape, counter) for message in messages]
        self.total = sum(self.costs)
        self.system = frozenset(index for index, message in enumerate(messages) if shape.is_system(message))
        self.kept_from = self.start_of_turns(keep_turns)
        self.groups = message_groups(messages, shape)
        self.held = tuple(held)
        stays = self.system.union(held)
        free = [group for group in self.groups if stays.isdisjoint(group)]
        before = [group for group in free if group[-1] < self.kept_from]
        last = max((group[-1] for group in free), default=-1)
        self.old = len(before)
        self.removable = before + [
            group
            for group in free
            if self.kept_from <= group[-1] != last and not any(shape.is_users_own(messages[index]) for index in group)
        ]

    def start_of_turns(self, turns: int) -> int:
        """Return where the user's last `turns` turns begin; 0 if the conversation has no more than those."""
        starts = [index for index, message in enumerate(self.messages) if self.shape.is_users_own(message)]
        if turns < 1:
            return len(self.messages)
        return starts[-turns] if len(starts) >= turns else 0

    def cost_of(self, groups: Sequence[tuple[int, ...]]) -> int:
        """Return the tokens of all messages in some groups."""
        return sum(self.costs[index] for group in groups for index in group)

    def fewest_to_drop(self, budget: int, at_least: int = 0) -> int:
        """Return how many of the oldest removable groups must be dropped for the rest to fit and begin as it must.

        If the rest never fits, return the largest number that leaves a list which begins as it must.
        """
        gone: set[int] = set()
        first = self._after(-1, gone)
        total, best = self.total, 0
        for count in range(len(self.removable) + 1):
            if count:
                group = self.removable[count - 1]
                gone.update(group)
                total -= self.cost_of([group])
                if first in gone:
                    first = self._after(first, gone)
            if count and not self._begins_well(first):
                continue
            best = count
            if count >= at_least and total <= budget:
                break
        return best

    def _after(self, index: int, gone: Collection[int]) -> int:
        index += 1
        while index < len(self.messages) and (index in gone or index in self.system):
            index += 1
        return index

    def _begins_well(self, first: int) -> bool:
        if not self.shape.starts_with_user or first == len(self.messages):
            return True
        return self.shape.is_users_own(self.messages[first])

    def why_over(self, tokens: int, budget: int, dropped: int) -> str:
        """Return why the messages that stay are over the budget; empty if they fit."""
        if tokens <= budget:
            return ""
        system = sum(self.costs[index] for index in self.system)
        held = sum(self.costs[index] for index in self.held)
        left = self.cost_of(self.removable[dropped:])
        reasons = [f"the last {self.keep_turns} turns take {tokens - system - held - left}"]
        if system:
            reasons.append(f"system messages take {system}")
        if held:
            reasons.append(f"the summary takes {held}")
        if left:
            reasons.append(f"{left} stay so that the list begins with a message of the user")
        return f"{tokens} tokens must stay of a budget of {budget}: {', '.join(reasons)}"
