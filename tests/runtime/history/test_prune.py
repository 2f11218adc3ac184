from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from octoc.runtime.history import SHAPES, SlidingWindow, message_groups, message_tokens, prune, shape_of
from octoc.tokens import APPROXIMATE

Message = Mapping[str, Any]


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _model(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _anthropic(*ids: str) -> list[Message]:
    called = [{"type": "tool_use", "id": one, "name": "t", "input": {"x": "y" * 40}} for one in ids]
    answered = [{"type": "tool_result", "tool_use_id": one, "content": "r" * 40} for one in ids]
    return [{"role": "assistant", "content": called}, {"role": "user", "content": answered}]


def _openai(*ids: str) -> list[Message]:
    calls = [{"id": one, "type": "function", "function": {"name": "t", "arguments": '{"x": "y"}'}} for one in ids]
    results = [{"role": "tool", "tool_call_id": one, "content": "r" * 40} for one in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _groups(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    return message_groups(messages, shape_of(messages))


def _tokens(message: Message) -> int:
    return message_tokens(message, shape_of([message]), APPROXIMATE)


def _total(messages: list[Message]) -> int:
    return sum(message_tokens(message, shape_of(messages), APPROXIMATE) for message in messages)


def test_a_call_and_all_its_results_are_one_group() -> None:
    """The calls of one message and their results are pruned together."""
    assert _groups([_user("a"), *_anthropic("1", "2")]) == [(0,), (1, 2)]
    assert _groups([*_openai("1", "2"), _user("a")]) == [(0, 1, 2), (3,)]


def test_reasoning_stays_with_its_call() -> None:
    """Items that the model made one after another, and the results of their calls, are one group."""
    items: list[Message] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"},
        {"type": "function_call", "call_id": "2", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "2", "output": "r"},
        {"type": "function_call_output", "call_id": "1", "output": "r"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
    ]
    assert _groups(items) == [(0,), (1, 2, 3, 4, 5), (6,)]


def test_an_approval_stays_with_its_request() -> None:
    """The request for an approval and the answer to it are one group."""
    items: list[Message] = [
        {"type": "mcp_approval_request", "id": "1", "name": "t", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "1", "approve": True},
    ]
    assert _groups(items) == [(0, 1)]


def test_an_id_that_is_used_again_belongs_to_the_call_before_it() -> None:
    """A model that counts its calls anew in each turn has groups all the same."""
    assert _groups([*_openai("call_0"), *_openai("call_0")]) == [(0, 1), (2, 3)]


def test_an_sdks_own_objects_are_read_as_well() -> None:
    """Blocks, messages and items may be objects with attributes, as SDKs return them."""
    block = SimpleNamespace(type="tool_use", id="1", name="t", input={})
    answered = _anthropic("1")[1]
    assert _groups([{"role": "assistant", "content": [block]}, answered]) == [(0, 1)]
    function = SimpleNamespace(name="t", arguments="{}")
    call = SimpleNamespace(id="1", type="function", function=function)
    message: Any = SimpleNamespace(role="assistant", content=None, tool_calls=[call])
    assert _groups([message, _openai("1")[1]]) == [(0, 1)]


def test_a_message_costs_its_texts_and_four_tokens() -> None:
    """Text, arguments and results are counted, and an image is not."""
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 4000}}
    assert _tokens(_user("x" * 40)) == 14
    assert _tokens({"role": "user", "content": [{"type": "text", "text": "x" * 40}, image]}) == 14
    called, answered = _anthropic("1")
    assert _tokens(called) == (1 + len('{"x": ""}') + 40) // 4 + 4
    assert _tokens(answered) == 14
    assert _tokens(_openai("1")[0]) == (1 + len('{"x": "y"}')) // 4 + 4


def test_the_oldest_groups_go_until_the_rest_fits() -> None:
    """The oldest whole groups go, no more than needed; the result lists them and the costs."""
    messages = [_user("0" * 40), *_openai("1"), _user("a"), _user("b"), _user("c")]
    total = _total(messages)
    assert prune(messages, total, APPROXIMATE).messages == messages
    assert prune(messages, total - 1, APPROXIMATE).messages == messages[1:]
    done = prune(messages, total - 15, APPROXIMATE)
    assert done.messages == messages[3:]
    assert done.dropped == ((0,), (1, 2))
    assert (done.tokens_before, done.tokens, done.fits, done.counter) == (total, 15, True, "chars/4")


def test_a_list_for_anthropic_begins_with_the_user() -> None:
    """A call is not left at the beginning, even where dropping less would fit; nor is an answer of the model."""
    messages = [_user("0" * 40), *_anthropic("1"), _model("done"), _user("a"), _user("b"), _user("c")]
    done = prune(messages, _total(messages) - 1, APPROXIMATE)
    assert done.messages == messages[4:]
    assert done.dropped == ((0,), (1, 2), (3,))


def test_a_turn_that_begins_beside_results_keeps_its_call_and_what_led_to_it() -> None:
    """When the last turns begin in a message with results, the list still begins with the user, and says so."""
    calls, results = _anthropic("1")
    mixed = {"role": "user", "content": [*results["content"], {"type": "text", "text": "go on"}]}
    messages = [_user("old"), _user("0" * 40), calls, mixed, _user("b"), _user("c")]
    done = prune(messages, 0, APPROXIMATE)
    assert done.messages == messages[1:]
    assert "14 stay so that the list begins with a message of the user" in done.why_over


def test_the_last_three_requests_stay_over_any_budget() -> None:
    """The user's last three messages and the last group stay, and the result says why."""
    messages = [_user("old"), _user("a"), *_openai("1"), _user("b"), *_openai("2"), _user("c")]
    done = prune(messages, 0, APPROXIMATE)
    assert done.messages == [messages[1], messages[4], messages[7]]
    assert not done.fits
    assert done.why_over == "15 tokens must stay of a budget of 0: the last 3 turns take 15"


@pytest.mark.parametrize("make", [_anthropic, _openai])
def test_a_long_loop_of_one_request_fits(make: Callable[..., list[Message]]) -> None:
    """When one message of the user starts a long tool loop, its oldest groups go, not the request."""
    request = _user("do it")
    loop = [make(str(number), f"{number}b") for number in range(50)]
    messages: list[Message] = [request, *(message for group in loop for message in group)]
    tail = [message for group in loop[-3:] for message in group]
    done = prune(messages, _total([request, *tail]), APPROXIMATE)
    assert done.fits
    assert done.messages == [request, *tail]
    assert prune(messages, 0, APPROXIMATE).messages == [request, *loop[-1]]


def test_groups_inside_the_last_turns_go_after_all_that_is_older() -> None:
    """Calls of the last turns stay as long as older turns can go instead."""
    messages = [_user("old"), *_openai("0"), _user("a"), *_openai("1"), _user("b"), *_openai("2"), _user("c")]
    assert prune(messages, _total(messages[3:]), APPROXIMATE).messages == messages[3:]
    assert prune(messages, _total(messages[3:]) - 1, APPROXIMATE).messages == [messages[3], *messages[6:]]


def test_more_or_fewer_turns_can_be_kept() -> None:
    """How many of the user's last turns stay is the host's choice."""
    messages = [_user("0"), _user("1"), _user("2"), _user("3")]
    assert prune(messages, 0, APPROXIMATE, keep_turns=1).messages == messages[3:]
    assert prune(messages, 0, APPROXIMATE, keep_turns=4).messages == messages


def test_system_messages_stay() -> None:
    """System and developer messages are never pruned, wherever they stand."""
    system: Message = {"role": "system", "content": "s" * 400}
    developer: Message = {"role": "developer", "content": "d"}
    messages = [system, _user("0"), developer, _user("a"), _user("b"), _user("c")]
    done = prune(messages, 0, APPROXIMATE)
    assert done.messages == [system, developer, *messages[3:]]
    assert done.why_over.endswith("the last 3 turns take 15, system messages take 109")


def test_a_window_keeps_the_last_turns_whatever_the_budget() -> None:
    """A sliding window drops what is before it; over the budget it gives up more, down to the turns that must stay."""
    messages = [_user(str(number)) for number in range(8)]
    five = SlidingWindow(turns=5)
    assert prune(messages, 10_000, APPROXIMATE, window=five).messages == messages[3:]
    assert prune(messages, 20, APPROXIMATE, window=five).messages == messages[4:]
    assert prune(messages, 0, APPROXIMATE, window=SlidingWindow(turns=1)).messages == messages[5:]


def test_every_shape_has_its_name() -> None:
    """The shapes that can be stated are these five."""
    assert sorted(SHAPES) == ["anthropic", "mcp", "octopus", "openai", "openai-responses"]
