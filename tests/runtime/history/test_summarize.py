import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from octoc.runtime.history import SHAPES, FittedConversation, Summarize, Summarizer, fit
from octoc.tokens import APPROXIMATE

MESSAGES: list[dict[str, Any]] = [
    message
    for number in range(10)
    for message in (
        {"role": "user", "content": f"question {number} " + "x" * 400},
        {"role": "assistant", "content": "y" * 400},
    )
]


def _fitted(summarizer: Summarizer, budget: int = 1700, shape: str = "openai") -> FittedConversation:
    return asyncio.run(fit(MESSAGES, budget, APPROXIMATE, pruner=Summarize(summarizer=summarizer), shape=SHAPES[shape]))


def test_a_summary_takes_the_place_of_the_oldest_groups() -> None:
    """The oldest 30 % of the groups go to the summarizer, and its text stands in their place."""
    seen: list[Any] = []

    def summarizer(messages: Sequence[Any]) -> str:
        seen.extend(messages)
        return "They greeted."

    done = _fitted(summarizer)
    assert seen == MESSAGES[:6]
    assert done.messages == [
        {"role": "user", "content": "[Summary of 6 earlier messages]\nThey greeted."},
        *MESSAGES[6:],
    ]
    assert done.summarized == tuple((index,) for index in range(6))
    assert done.dropped == ()
    assert done.fits
    assert done.problem == ""


@pytest.mark.parametrize(
    "shape,content",
    [
        ("anthropic", "[Summary of 6 earlier messages]\ns"),
        ("octopus", "[Summary of 6 earlier messages]\ns"),
        ("mcp", [{"type": "text", "text": "[Summary of 6 earlier messages]\ns"}]),
        ("openai-responses", [{"type": "input_text", "text": "[Summary of 6 earlier messages]\ns"}]),
    ],
)
def test_the_summary_is_a_message_of_the_lists_own_shape(shape: str, content: Any) -> None:
    """A summary is written as the API of the list writes a message of the user."""
    first = _fitted(lambda _: "s", shape=shape).messages[0]
    assert first["role"] == "user"
    assert first["content"] == content


def test_a_summarizer_may_be_a_coroutine() -> None:
    """The host's summarizer may be awaited, as one that asks a model is."""

    async def summarizer(messages: Sequence[Any]) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} messages"

    assert "6 messages" in _fitted(summarizer).messages[0]["content"]


def test_nobody_is_asked_when_all_fits() -> None:
    """A list within its budget is left as it is."""

    def summarizer(messages: Sequence[Any]) -> str:
        raise AssertionError(messages)

    assert _fitted(summarizer, budget=10_000).messages == MESSAGES


def _fails(_: Sequence[Any]) -> str:
    raise RuntimeError("key sk-12345 refused")


@pytest.mark.parametrize(
    "summarizer,problem",
    [
        (_fails, "the summarizer failed"),
        (lambda _: " ", "the summarizer gave no text"),
        (lambda _: None, "the summarizer gave no text"),
        (lambda _: "z" * 9000, "the summary is not shorter than the messages that it replaces"),
    ],
)
def test_without_a_summary_the_oldest_groups_go(summarizer: Summarizer, problem: str) -> None:
    """A summarizer that fails or does not help is reported, by no more than its kind, and the list is pruned."""
    done = _fitted(summarizer)
    assert done.problem == problem
    assert done.fits
    assert done.messages == MESSAGES[len(done.dropped) :]
    assert len(done.dropped) == 4


def test_what_still_does_not_fit_goes_after_the_summary() -> None:
    """When a summary is not enough the next groups are dropped, and the summary stays."""
    done = _fitted(lambda _: "s", budget=900)
    assert done.messages[0]["content"].endswith("\ns")
    assert done.fits
    assert done.dropped[0] == (6,)
    assert done.messages[1:] == MESSAGES[6 + len(done.dropped) :]


def test_a_summary_that_there_is_no_room_for_is_left_out() -> None:
    """When only the list without the summary meets the budget, the oldest groups go instead, with the reason."""
    done = _fitted(lambda _: "z" * 2000, budget=900)
    assert done.fits
    assert done.summarized == ()
    assert done.problem == "there is no room for the summary"
    assert done.messages == MESSAGES[-len(done.messages) :]


def test_what_a_summary_takes_of_too_much_is_told() -> None:
    """Where the last turns alone are over the budget the summary stays, and counts by itself."""
    done = _fitted(lambda _: "z" * 400, budget=100)
    assert done.summarized
    assert "the last 3 turns take 422, the summary takes 112" in done.why_over
