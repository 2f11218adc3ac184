import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.results import ContentPart, ToolResult
from octoc.runtime.results import Limits, failure, redact, truncate
from octoc.tokens import APPROXIMATE

TEXT = st.text("aé🙂\n", max_size=40).map(lambda text: ContentPart(type="text", text=text))
IMAGE = st.just(ContentPart(type="image", data={"type": "image", "data": "AAAA"}))
RESULTS = st.lists(TEXT | IMAGE, max_size=6).map(lambda parts: ToolResult(content=tuple(parts)))
LIMITS = st.builds(
    Limits, profile=st.sampled_from(["octo", "octopus"]), max_chars=st.integers(0, 60), max_tokens=st.integers(1, 15)
)


NOTICE = re.compile(
    r"\n\n\.\.\. \[Result truncated from [\d,]+ to [\d,]+ chars\. Use pagination, more specific queries, or request "
    r"smaller chunks to get the remaining data\.\]|\n\[\.\.\. truncated \d+ tokens \.\.\.\]"
)


@attrs.frozen
class Dense:
    """A counter that finds a token in every character."""

    name: str = "dense"

    def count(self, text: str) -> int:
        return len(text)


def _of(*texts: str) -> ToolResult:
    return ToolResult(content=tuple(ContentPart(type="text", text=text) for text in texts))


def test_octo_keeps_the_head_and_appends_its_notice() -> None:
    """Profile octo keeps exactly the limit of characters, and says so with thousands separators."""
    cut = truncate(_of("x" * 50001), Limits(max_chars=40000), APPROXIMATE)
    assert cut.text == "x" * 40000 + (
        "\n\n... [Result truncated from 50,001 to 40,000 chars. Use pagination, more specific queries, or request "
        "smaller chunks to get the remaining data.]"
    )
    (record,) = cut.truncations
    assert (record.original, record.kept, record.unit) == (50001, 40000, "chars")


def test_octopus_keeps_four_characters_a_token() -> None:
    """Profile octopus keeps the first 2,000 tokens' worth and counts the rest."""
    cut = truncate(_of("x" * 10000), Limits(profile="octopus"), APPROXIMATE)
    assert cut.text == "x" * 8000 + "\n[... truncated 500 tokens ...]"


def test_octopus_cuts_dense_text_in_proportion() -> None:
    """With an exact counter, dense text is cut to its share of tokens instead of four characters each."""
    cut = truncate(_of("x" * 3000), Limits(profile="octopus"), Dense())
    assert cut.text == "x" * 2000 + "\n[... truncated 1000 tokens ...]"


def test_parts_share_the_limit_in_order() -> None:
    """The cut falls where the limit is used up; text behind it goes, and what is no text stays."""
    image = ContentPart(type="image", data={"data": "AAAA"})
    parts = (*_of("aaaa", "bbbb").content, image, *_of("cccc").content)
    cut = truncate(ToolResult(content=parts), Limits(max_chars=6), APPROXIMATE)
    notice = "\n\n... [Result truncated from 12 to 6 chars. "
    assert [part.text and part.text.partition("Use")[0] for part in cut.content] == ["aaaa", f"bb{notice}", None]


def test_a_result_within_the_limit_is_left_alone() -> None:
    """What fits is the same object."""
    result = _of("x" * 10)
    assert truncate(result, Limits(max_chars=10), APPROXIMATE) is result


@given(RESULTS, LIMITS)
def test_cutting_is_exact_once_and_only_text(result: ToolResult, limits: Limits) -> None:
    """The kept text is the head of the original, there is at most one notice, and cutting again changes nothing."""
    cut = truncate(result, limits, APPROXIMATE)
    original = "".join(part.text or "" for part in result.content)
    shown = "".join(part.text or "" for part in cut.content)
    assert [p for p in cut.content if p.text is None] == [p for p in result.content if p.text is None]
    if cut.truncations:
        assert len(cut.truncations) == 1
        limit = limits.max_chars if limits.profile == "octo" else limits.max_tokens * 4
        assert len(original) > limit
        assert shown[:limit] == original[:limit]
        assert NOTICE.fullmatch(shown[limit:])
    else:
        assert cut is result
    assert truncate(cut, limits, APPROXIMATE) is cut


@given(st.text(max_size=20), st.lists(st.text(min_size=4, max_size=8), max_size=4))
def test_no_secret_is_left_in_a_message(text: str, secrets: list[str]) -> None:
    """A message that holds secrets has none of them afterwards, also where one is part of another."""
    message = text.join(["", *secrets, ""])
    cleaned = redact(message, secrets)
    assert all(secret not in cleaned for secret in secrets if "*" not in secret)


def test_octopus_failures_carry_a_hint() -> None:
    """Near names become the hint of an Octopus failure."""
    found = failure("not_found", "no such tool", profile="octopus", similar=("a", "b"))
    assert found.text == '{"error": "not_found", "message": "no such tool", "hint": "Similar: a, b"}'


@pytest.mark.parametrize("secret", ["", "abc"])
def test_what_is_too_short_is_no_secret(secret: str) -> None:
    """A value of under four characters is not cut out of every word."""
    assert redact("abcabc", [secret]) == "abcabc"
