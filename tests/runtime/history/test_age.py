from typing import Any

import pytest

from octoc.runtime.history import SHAPES, age

LONG = "".join(str(number % 10) for number in range(12_345))
RECENT = [{"role": "user", "content": "x"}] * 10


def _keep(text: str, tool: str) -> str:
    return f"r-{tool}-{len(text)}"


def _aged(name: str, old: list[dict[str, Any]], profile: str = "octoc") -> list[dict[str, Any]]:
    return age([*old, *RECENT], SHAPES[name], _keep, profile=profile).messages[: len(old)]


OPENAI: list[dict[str, Any]] = [
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": LONG},
]


def test_an_old_result_says_where_the_rest_is() -> None:
    """The head stays, with a notice that names the handle and how to read on; the call's id is the same."""
    (_, result) = _aged("openai", OPENAI)
    assert result["tool_call_id"] == "1"
    assert result["content"] == LONG[:3800] + (
        "\n\n[octoc: an old result, 3,800 of 12,345 characters; read on with "
        'read_result(handle="r-t-12345", offset=3800)]'
    )


def test_octos_profile_has_octos_words() -> None:
    """Profile `octo` uses Octo's notice, with a handle where Octo has a path."""
    (_, result) = _aged("openai", OPENAI, "octo")
    assert result["content"][3800:] == "\n\n... [truncated — full result (12,345 chars) saved to: r-t-12345]"


def test_recent_results_are_left_alone() -> None:
    """A result in the last ten messages stays whole, and so does one of 4,000 characters."""
    messages = [*OPENAI, *RECENT[:9]]
    assert age(messages, SHAPES["openai"], _keep).messages[1] == messages[1]
    short = [OPENAI[0], {**OPENAI[1], "content": LONG[:4000]}]
    assert _aged("openai", short) == short
    assert age([*messages, RECENT[0]], SHAPES["openai"], _keep).messages[1] != messages[1]


def test_what_is_not_kept_is_not_cut() -> None:
    """A result that the store does not take stays whole, and is named."""
    messages = [*OPENAI, *RECENT]
    done = age(messages, SHAPES["openai"], lambda *_: None)
    assert done.messages == messages
    assert done.unkept == ("1",)


@pytest.mark.parametrize(
    "name,key,image",
    [
        ("anthropic", "tool_use_id", {"type": "image", "source": {"type": "base64", "data": "AAAA"}}),
        ("mcp", "toolUseId", {"type": "image", "data": "AAAA", "mimeType": "image/png"}),
    ],
)
def test_images_stay_and_a_second_copy_goes(name: str, key: str, image: dict[str, Any]) -> None:
    """Parts that are not text stay beside the shorter text; MCP's structured copy of it goes."""
    call = {"type": "tool_use", "id": "1", "name": "t", "input": {}}
    texts = [{"type": "text", "text": LONG[:6000]}, image, {"type": "text", "text": LONG[6000:]}]
    result = {"type": "tool_result", key: "1", "content": texts, "structuredContent": {"x": LONG}}
    old = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    (block,) = _aged(name, old)[1]["content"]
    assert block[key] == "1"
    assert len(block["content"][0]["text"]) < 4000
    assert block["content"][1:] == [image]
    assert "structuredContent" not in block
    assert len(result["content"]) == 3
