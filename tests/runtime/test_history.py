from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from octoc.runtime.history import message_groups, message_tokens, prune
from octoc.tokens import APPROXIMATE

Message = Mapping[str, Any]


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _anthropic(*ids: str) -> list[Message]:
    called = [{"type": "tool_use", "id": one, "name": "t", "input": {"x": "y" * 40}} for one in ids]
    answered = [{"type": "tool_result", "tool_use_id": one, "content": "r" * 40} for one in ids]
    return [{"role": "assistant", "content": called}, {"role": "user", "content": answered}]


def _openai(*ids: str) -> list[Message]:
    calls = [{"id": one, "type": "function", "function": {"name": "t", "arguments": '{"x": "y"}'}} for one in ids]
    results = [{"role": "tool", "tool_call_id": one, "content": "r" * 40} for one in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _ids(messages: list[Message]) -> tuple[set[str], set[str]]:
    called: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        called.update(call["id"] for call in message.get("tool_calls", ()))
        if message["role"] == "tool":
            answered.add(message["tool_call_id"])
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                called.add(block["id"])
            if block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
    return called, answered


def _total(messages: list[Message]) -> int:
    return sum(message_tokens(message, APPROXIMATE) for message in messages)


def test_a_call_and_all_its_results_are_one_group() -> None:
    """The calls of one message and their results are pruned together, in both APIs' shapes."""
    assert message_groups([_user("a"), *_anthropic("1", "2")]) == [(0,), (1, 2)]
    assert message_groups([*_openai("1", "2"), _user("a")]) == [(0, 1, 2), (3,)]


def test_a_message_costs_its_texts_and_four_tokens() -> None:
    """Text, arguments and results are counted, and an image is not."""
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 4000}}
    assert message_tokens(_user("x" * 40), APPROXIMATE) == 14
    assert message_tokens({"role": "user", "content": [{"type": "text", "text": "x" * 40}, image]}, APPROXIMATE) == 14
    called, answered = _anthropic("1")
    assert message_tokens(called, APPROXIMATE) == (1 + len('{"x": ""}') + 40) // 4 + 4
    assert message_tokens(answered, APPROXIMATE) == 14
    assert message_tokens(_openai("1")[0], APPROXIMATE) == (1 + len('{"x": "y"}')) // 4 + 4


def test_the_oldest_groups_go_until_the_rest_fits() -> None:
    """Whole groups go, oldest first, and no more of them than needed."""
    messages = [_user("0" * 40), *_anthropic("1"), _user("a"), _user("b"), _user("c")]
    total = _total(messages)
    assert prune(messages, total, APPROXIMATE) == messages
    assert prune(messages, total - 1, APPROXIMATE) == messages[1:]
    assert prune(messages, total - 15, APPROXIMATE) == messages[3:]


def test_the_last_three_turns_stay_over_any_budget() -> None:
    """From the user's third last message on everything stays, tool calls included."""
    messages = [_user("old"), _user("a"), *_openai("1"), _user("b"), *_anthropic("2"), _user("c")]
    assert prune(messages, 0, APPROXIMATE) == messages[1:]


def test_system_messages_stay() -> None:
    """System and developer messages are never pruned, wherever they stand."""
    system: Message = {"role": "system", "content": "s" * 400}
    developer: Message = {"role": "developer", "content": "d"}
    messages = [system, _user("0"), developer, _user("a"), _user("b"), _user("c")]
    assert prune(messages, 0, APPROXIMATE) == [system, developer, *messages[3:]]


_PIECES = st.sampled_from(["user", "assistant", "system", "anthropic", "openai", "two"])


@given(st.lists(_PIECES, max_size=14), st.integers(0, 300))
def test_pruning_keeps_pairs_order_and_what_it_must(pieces: list[str], budget: int) -> None:
    """No call loses a result, order stays, system messages and the last turns stay, and more goes only over budget."""
    messages: list[Message] = []
    for number, piece in enumerate(pieces):
        one = str(number)
        match piece:
            case "anthropic":
                messages += _anthropic(one)
            case "openai":
                messages += _openai(one)
            case "two":
                messages += _openai(f"{one}a", f"{one}b")
            case role:
                messages.append({"role": role, "content": f"{role} {one}"})
    left = prune(messages, budget, APPROXIMATE)
    positions = [next(i for i, other in enumerate(messages) if other is message) for message in left]
    assert positions == sorted(positions)
    called, answered = _ids(left)
    assert called == answered
    assert [m for m in left if m["role"] == "system"] == [m for m in messages if m["role"] == "system"]
    own = [i for i, m in enumerate(messages) if m["role"] == "user" and isinstance(m["content"], str)]
    kept_from = own[-3] if len(own) >= 3 else 0
    assert left[len(left) - len(messages[kept_from:]) :] == messages[kept_from:]
    if _total(left) > budget:
        assert [m for m in left if m["role"] != "system"] == [m for m in messages[kept_from:] if m["role"] != "system"]
    dropped = [i for i in range(len(messages)) if i not in positions]
    if dropped:
        last = max(message_groups(messages), key=lambda group: group[0] if group[0] in dropped else -1)
        assert _total(left) + sum(message_tokens(messages[i], APPROXIMATE) for i in last) > budget
