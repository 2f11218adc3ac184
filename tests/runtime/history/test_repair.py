from types import SimpleNamespace
from typing import Any

import pytest

from octoc.runtime.history import INTERRUPTED, SHAPES, repair
from octoc.runtime.history.repair import NO_BEGINNING

Messages = list[dict[str, Any]]
ASKS = {"role": "user", "content": "go"}


def _repaired(name: str, messages: Messages) -> tuple[Messages, list[tuple[str, int, str]]]:
    done = repair(messages, SHAPES[name])
    return done.messages, [(one.kind, one.index, one.id) for one in done.repairs]


def _calls(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "t", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _result(one: str, text: str = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": one, "content": text}


def _uses(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "t", "input": {}} for one in ids]}


def _used(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": "r"} for one in ids]}


def test_an_interrupted_call_gets_a_result_that_says_so() -> None:
    """An unanswered call gets Octo's words as its result, in the list's own shape."""
    assert INTERRUPTED == "[Tool call interrupted — connection was lost before execution]"
    assert _repaired("openai", [ASKS, _calls("1", "2"), _result("2")]) == (
        [ASKS, _calls("1", "2"), _result("1", INTERRUPTED), _result("2")],
        [("interrupted", 1, "1")],
    )
    block = {"type": "tool_result", "tool_use_id": "1", "content": INTERRUPTED, "is_error": True}
    assert _repaired("anthropic", [ASKS, _uses("1")])[0][2] == {"role": "user", "content": [block]}
    item = {"type": "custom_tool_call", "call_id": "1", "name": "t", "input": ""}
    answer = {"type": "custom_tool_call_output", "call_id": "1", "output": INTERRUPTED}
    assert _repaired("openai-responses", [item])[0] == [item, answer]
    text = [{"type": "text", "text": INTERRUPTED}]
    mcp = {"type": "tool_result", "toolUseId": "1", "content": text, "isError": True}
    assert _repaired("mcp", [_uses("1")])[0][1]["content"] == [mcp]
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "t", "input": {}}]}
    assert _repaired("octopus", [call])[0] == [call, _result("1", INTERRUPTED)]


def test_a_result_without_a_call_goes() -> None:
    """An orphaned result is dropped and reported; what else its message says stays."""
    assert _repaired("openai", [_result("0"), ASKS]) == ([ASKS], [("orphan", 0, "0")])
    mixed = {"role": "user", "content": [*_used("0")["content"], {"type": "text", "text": "hi"}]}
    assert _repaired("anthropic", [mixed])[0] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


def test_a_result_that_went_astray_comes_back_to_its_call() -> None:
    """Results before their call, or separated from it, move directly after it."""
    assert _repaired("openai", [ASKS, _result("1"), _calls("1")]) == (
        [ASKS, _calls("1"), _result("1")],
        [("moved", 1, "1")],
    )
    assert _repaired("openai", [_calls("1"), ASKS, _result("1")])[0] == [_calls("1"), _result("1"), ASKS]
    assert _repaired("anthropic", [ASKS, _uses("1", "2"), _used("2"), _used("1")])[0] == [
        ASKS,
        _uses("1", "2"),
        _used("1", "2"),
    ]


def test_results_stand_first_in_their_message() -> None:
    """Anthropic wants results before text, and MCP wants nothing beside them."""
    text = {"type": "text", "text": "hi"}
    late = {"role": "user", "content": [text, *_used("1")["content"]]}
    sound = [ASKS, _uses("1"), _used("1"), {"role": "user", "content": [text]}]
    assert _repaired("anthropic", [ASKS, _uses("1"), late])[0] == sound
    early = {"role": "user", "content": [*_used("1")["content"], text]}
    assert _repaired("anthropic", [ASKS, _uses("1"), early]) == ([ASKS, _uses("1"), early], [])


def test_what_is_there_twice_goes_once() -> None:
    """A call that is there again without a result of its own goes, and so does a second result of one call."""
    done = _repaired("openai", [_calls("1"), _calls("1"), _result("1")])
    assert done == ([_calls("1"), _result("1")], [("duplicate_call", 0, "1")])
    done = _repaired("openai", [_calls("1"), _result("1"), _result("1")])
    assert done == ([_calls("1"), _result("1")], [("duplicate_result", 2, "1")])


def test_a_call_that_shares_its_id_gets_one_of_its_own() -> None:
    """Two different calls with one id get separate ids, each with its own result."""
    again = _calls("1")
    done, repairs = _repaired("openai", [_calls("1"), _result("1", "a"), again, _result("1", "b")])
    assert done == [_calls("1"), _result("1", "a"), _calls("1_2"), _result("1_2", "b")]
    assert repairs == [("renamed", 2, "1")]


def test_a_list_for_anthropic_gets_a_beginning() -> None:
    """A list that was cut in the middle of a turn begins with a message of the user."""
    done, repairs = _repaired("anthropic", [_uses("1"), _used("1")])
    assert done == [{"role": "user", "content": NO_BEGINNING}, _uses("1"), _used("1")]
    assert repairs == [("beginning", 0, "")]


def test_reasoning_that_leads_to_nothing_goes() -> None:
    """A reasoning item without the item that followed it is dropped, as the API refuses it."""
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    asks = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    assert _repaired("openai-responses", [reasoning, asks]) == ([asks], [("dangling", 0, "")])


def test_thoughts_before_a_call_go_with_it() -> None:
    """A message of which only thinking would be left is dropped with its call."""
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    twice = {"role": "assistant", "content": [thinking, *_uses("1")["content"]]}
    assert _repaired("anthropic", [ASKS, _uses("1"), _used("1"), twice])[0] == [ASKS, _uses("1"), _used("1")]


def test_a_message_that_says_nothing_goes() -> None:
    """Empty messages are dropped, and so is an empty list of calls beside a text."""
    bare = {"role": "assistant", "content": "hi"}
    assert _repaired("openai", [ASKS, {**bare, "tool_calls": []}]) == ([ASKS, bare], [("empty", 1, "")])
    assert _repaired("openai", [ASKS, {"role": "assistant", "content": None}]) == ([ASKS], [("empty", 1, "")])


def test_objects_of_an_sdk_are_repaired_too() -> None:
    """A message that has to change becomes a plain mapping with the same fields; others stay what they are."""
    block = SimpleNamespace(type="tool_use", id="", name="t", input={})
    message = SimpleNamespace(role="assistant", content=[block])
    done = repair([ASKS, message], SHAPES["anthropic"]).messages
    assert done[0] is ASKS
    assert done[1] == {"role": "assistant", "content": [{"type": "tool_use", "id": "call_2", "name": "t", "input": {}}]}
    assert done[2]["content"][0]["tool_use_id"] == "call_2"


@pytest.mark.parametrize("calls", [[7], [None], ["x"], "x", {}, 7])
def test_calls_that_are_none_are_no_reason_to_raise(calls: Any) -> None:
    """Whatever stands where calls should, as a broken store may give it, the rest of the conversation is there."""
    messages, _ = _repaired("openai", [ASKS, {"role": "assistant", "content": "hm", "tool_calls": calls}, ASKS])
    assert messages[0] == messages[-1] == ASKS
