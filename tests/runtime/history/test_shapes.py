from typing import Any

import pytest

from octoc.runtime.history import shape_of

USE = {"type": "tool_use", "id": "1", "name": "t", "input": {}}


@pytest.mark.parametrize(
    "name,messages",
    [
        ("anthropic", [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": ""}]}]),
        ("anthropic", [{"role": "assistant", "content": [USE]}]),
        ("anthropic", [{"role": "user", "content": "hi"}]),
        ("anthropic", [{"type": "message", "role": "assistant", "content": [USE]}]),
        ("mcp", [{"role": "assistant", "content": USE}]),
        ("mcp", [{"role": "assistant", "content": [USE]}, {"role": "user", "content": {"type": "text", "text": ""}}]),
        ("mcp", [{"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": []}]}]),
        ("openai", [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "t"}}]}]),
        ("openai", [{"role": "system", "content": "be"}, {"role": "user", "content": "hi"}]),
        ("openai", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
        ("octopus", [{"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "t", "input": {}}]}]),
        ("openai-responses", [{"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"}]),
        ("openai-responses", [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]),
        ("openai-responses", [{"type": "message", "role": "user", "content": "hi"}]),
    ],
)
def test_a_list_is_known_by_what_only_its_shape_has(name: str, messages: list[dict[str, Any]]) -> None:
    """The shape of a list is found from its messages."""
    assert shape_of(messages).name == name


def test_a_stated_shape_is_taken() -> None:
    """A shape that the host states is used without a check; an unknown name is refused with the existing ones."""
    assert shape_of([{"role": "user", "content": "hi"}], "octopus").name == "octopus"
    with pytest.raises(ValueError, match="`gemini`: expected one of openai-responses, anthropic, mcp, openai, octopus"):
        shape_of([], "gemini")
