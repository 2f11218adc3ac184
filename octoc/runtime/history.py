"""Pruning a conversation by message groups, so that no tool call ever loses its result, nor a result its call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

Message = Mapping[str, Any]

KEPT_TURNS = 3
"""The user's last turns that stay even over the budget. Source: Octopus, MinHistoryTurns."""
MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beyond its text. Source: Octopus, approximate counter."""
_SYSTEM_ROLES = frozenset({"system", "developer"})


def prune(messages: Sequence[Message], budget_tokens: int, counter: TokenCounter) -> list[Message]:
    """Return `messages` without its oldest groups, until the rest fits `budget_tokens`.

    A group is a message, or an assistant's message with tool calls and all their results. System messages and all from
    the user's third last turn on stay, even over the budget. Order is kept, and messages are passed on as they are.
    Understands the messages of Anthropic (content blocks) and of OpenAI chat (`tool_calls`, role `tool`).
    """
    costs = [message_tokens(message, counter) for message in messages]
    total = sum(costs)
    keep_from = _start_of_kept_turns(messages)
    dropped: set[int] = set()
    for group in message_groups(messages):
        if total <= budget_tokens:
            break
        if group[-1] >= keep_from or any(messages[index].get("role") in _SYSTEM_ROLES for index in group):
            continue
        dropped.update(group)
        total -= sum(costs[index] for index in group)
    return [message for index, message in enumerate(messages) if index not in dropped]


def message_groups(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Return the indexes of messages that are pruned together, ordered by the first of each group."""
    parent = list(range(len(messages)))

    def root(index: int) -> int:
        while parent[index] != index:
            index = parent[index]
        return index

    caller: dict[str, int] = {}
    for index, message in enumerate(messages):
        for call in _answered(message):
            if call in caller:
                one, other = sorted((root(caller[call]), root(index)))
                parent[other] = one
        caller.update(dict.fromkeys(_called(message), index))
    groups: dict[int, list[int]] = {}
    for index in range(len(messages)):
        groups.setdefault(root(index), []).append(index)
    return [tuple(groups[first]) for first in sorted(groups)]


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return what a message costs: its texts, its calls with their arguments, its results. Images count nothing."""
    text = "".join(_texts(message.get("content")))
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        text += str(function.get("name", "")) + str(function.get("arguments", ""))
    return counter.count(text) + MESSAGE_OVERHEAD


def _blocks(message: Message) -> Iterable[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        yield from (block for block in content if isinstance(block, Mapping))


def _called(message: Message) -> list[str]:
    calls = [str(call.get("id")) for call in message.get("tool_calls") or ()]
    return calls + [str(block.get("id")) for block in _blocks(message) if block.get("type") == "tool_use"]


def _answered(message: Message) -> list[str]:
    answered = [str(message.get("tool_call_id"))] if message.get("role") == "tool" else []
    return answered + [
        str(block.get("tool_use_id")) for block in _blocks(message) if block.get("type") == "tool_result"
    ]


def _start_of_kept_turns(messages: Sequence[Message]) -> int:
    starts = [index for index, message in enumerate(messages) if _is_users_own(message)]
    return starts[-KEPT_TURNS] if len(starts) >= KEPT_TURNS else 0


def _is_users_own(message: Message) -> bool:
    if message.get("role") != "user":
        return False
    blocks = list(_blocks(message))
    return not blocks or any(block.get("type") != "tool_result" for block in blocks)


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, (list, tuple)):
        for block in content:
            yield from _texts(block)
    elif isinstance(content, Mapping):
        match content.get("type"):
            case "tool_use":
                yield str(content.get("name", "")) + json.dumps(content.get("input", {}), ensure_ascii=False)
            case "tool_result":
                yield from _texts(content.get("content"))
            case _:
                yield from _texts(content.get("text"))
