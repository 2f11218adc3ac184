"""Cutting in profiles `octo` and `octopus`: those systems' words, byte for byte."""

import re

import attrs
from hypothesis import given
from hypothesis import strategies as st

from octoc.results import ContentPart, ToolResult, Truncation
from octoc.runtime.results.fit import truncate
from octoc.runtime.results.limits import ResultLimits
from octoc.runtime.results.parts import text_of
from octoc.tokens import APPROXIMATE

TEXT = st.text("aé🙂\n", max_size=40).map(lambda text: ContentPart(type="text", text=text))
IMAGE = st.just(ContentPart(type="image", data={"type": "image", "data": "AAAA"}))
RESOURCE = st.text("aé\n", max_size=40).map(
    lambda text: ContentPart(type="resource", data={"type": "resource", "resource": {"uri": "a:b", "text": text}})
)
RESULTS = st.lists(TEXT | IMAGE | RESOURCE, max_size=6).map(lambda parts: ToolResult(content=tuple(parts)))
LIMITS = st.builds(
    ResultLimits,
    profile=st.sampled_from(["octo", "octopus"]),
    max_chars=st.integers(0, 60),
    max_tokens=st.integers(1, 15),
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


@attrs.frozen
class Uneven:
    """A counter that finds a token in every `a`, and one in eight of all other characters."""

    name: str = "uneven"

    def count(self, text: str) -> int:
        return text.count("a") + len(text.replace("a", "")) // 8


def _of(*texts: str) -> ToolResult:
    return ToolResult(content=tuple(ContentPart(type="text", text=text) for text in texts))


def test_octo_keeps_the_head_and_appends_its_notice() -> None:
    """Profile octo keeps exactly the limit of characters, and says so with thousands separators."""
    cut = truncate(_of("x" * 50001), ResultLimits(max_chars=40000), APPROXIMATE)
    assert cut.text == "x" * 40000 + (
        "\n\n... [Result truncated from 50,001 to 40,000 chars. Use pagination, more specific queries, or request "
        "smaller chunks to get the remaining data.]"
    )
    (record,) = cut.truncations
    assert (record.original, record.kept, record.unit) == (50001, 40000, "chars")


def test_octopus_keeps_four_characters_a_token() -> None:
    """Profile octopus keeps the first 2,000 tokens' worth and counts the rest."""
    cut = truncate(_of("x" * 10000), ResultLimits(profile="octopus"), APPROXIMATE)
    assert cut.text == "x" * 8000 + "\n[... truncated 500 tokens ...]"


def test_octopus_cuts_dense_text_in_proportion() -> None:
    """With an exact counter, dense text is cut to its share of tokens instead of four characters each."""
    cut = truncate(_of("x" * 3000), ResultLimits(profile="octopus"), Dense())
    assert cut.text == "x" * 2000 + "\n[... truncated 1000 tokens ...]"


def test_parts_share_the_limit_in_order() -> None:
    """The cut is where the limit ends; text after it goes, and parts that are not text stay."""
    image = ContentPart(type="image", data={"data": "AAAA"})
    parts = (*_of("aaaa", "bbbb").content, image, *_of("cccc").content)
    cut = truncate(ToolResult(content=parts), ResultLimits(max_chars=6), APPROXIMATE)
    notice = "\n\n... [Result truncated from 12 to 6 chars. "
    assert [part.text and part.text.partition("Use")[0] for part in cut.content] == ["aaaa", f"bb{notice}", None]


def test_a_result_within_the_limit_is_left_alone() -> None:
    """What fits is the same object."""
    result = _of("x" * 10)
    assert truncate(result, ResultLimits(max_chars=10), APPROXIMATE) is result


@given(RESULTS, LIMITS)
def test_cutting_is_exact_once_and_only_text(result: ToolResult, limits: ResultLimits) -> None:
    """The kept text is the head of the original within the limit, with one notice; cutting again changes nothing."""
    cut = truncate(result, limits, APPROXIMATE)
    original = "".join(text_of(part) or "" for part in result.content)
    shown = "".join(text_of(part) or "" for part in cut.content)
    assert [p for p in cut.content if p.type == "image"] == [p for p in result.content if p.type == "image"]
    head = limits.max_chars
    if original and APPROXIMATE.count(original) > limits.max_tokens:
        head = min(head, limits.max_tokens * 4)
    if cut.truncations:
        assert len(cut.truncations) == 1
        assert len(original) > head
        assert shown[:head] == original[:head]
        assert NOTICE.fullmatch(shown[head:])
    else:
        assert cut is result
        assert len(original) <= limits.max_chars
    assert truncate(cut, limits, APPROXIMATE) is cut


@given(st.text("ab ", max_size=80), st.integers(1, 20), st.integers(0, 80))
def test_no_head_has_more_tokens_than_its_limit(text: str, max_tokens: int, max_chars: int) -> None:
    """Also by a counter that finds more tokens in some characters than in others, the head keeps to both limits."""
    limits = ResultLimits(profile="octopus", max_tokens=max_tokens, max_chars=max_chars)
    cut = truncate(_of(text), limits, Uneven())
    head = NOTICE.sub("", cut.text)
    assert len(head) <= max_chars
    assert Uneven().count(head) <= max_tokens
    assert text.startswith(head)


def test_structured_content_goes_when_it_does_not_fit() -> None:
    """Structured content over the limit is left out as a whole, and counts in the one notice."""
    result = ToolResult(content=_of("short").content, structured={"key": "x" * 100})
    cut = truncate(result, ResultLimits(max_chars=50), APPROXIMATE)
    assert cut.structured is None
    assert cut.text.startswith("short\n\n... [Result truncated from 115 to 5 chars. ")


def test_what_the_transport_dropped_is_in_the_notice() -> None:
    """Bytes that the transport did not read count as left out, in each system's own words and unit."""
    dropped = Truncation(stage="transport", original=5000, kept=1000, unit="bytes")
    result = attrs.evolve(_of("x" * 1000), truncations=(dropped,))
    octo = truncate(result, ResultLimits(), APPROXIMATE)
    assert octo.text.startswith("x" * 1000 + "\n\n... [Result truncated from 5,000 to 1,000 chars. ")
    octopus = truncate(result, ResultLimits(profile="octopus"), APPROXIMATE)
    assert octopus.text == "x" * 1000 + "\n[... truncated 1000 tokens ...]"
    assert truncate(octo, ResultLimits(), APPROXIMATE) is octo


def test_the_whole_is_kept_without_a_word_of_it() -> None:
    """The handle is in the result for the host; the notice is that system's, byte for byte."""
    kept: list[tuple[str, ...]] = []

    def keep(parts: tuple[str, ...]) -> str:
        kept.append(parts)
        return "r-1"

    cut = truncate(_of("x" * 30), ResultLimits(max_chars=10), APPROXIMATE, keep)
    assert (cut.handle, kept) == ("r-1", [("x" * 30,)])
    assert "r-1" not in cut.text
