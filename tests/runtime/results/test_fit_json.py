"""Profile `octoc`: what a model gets of a result that is too long."""

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.results import ContentPart, ToolResult, Truncation
from octoc.runtime.results.fit import truncate
from octoc.runtime.results.limits import ResultLimits
from octoc.runtime.results.parts import MAX_NOTICE_CHARS, text_of
from octoc.tokens import APPROXIMATE

ITEMS = [{"id": number, "name": f"item {number}"} for number in range(10, 100)]
RECORDS = {"total": 90, "items": ITEMS}
TEXT = st.text("aé🙂\n", max_size=60).map(lambda text: ContentPart(type="text", text=text))
JSON_TEXT = st.lists(st.integers() | st.text(max_size=9), max_size=20).map(
    lambda value: ContentPart(type="text", text=json.dumps(value))
)
RESOURCE = st.text("xy", max_size=60).map(
    lambda text: ContentPart(type="resource", data={"type": "resource", "resource": {"uri": "a:b", "text": text}})
)
IMAGE = st.integers(0, 30).map(
    lambda size: ContentPart(type="image", data={"type": "image", "mimeType": "image/png", "data": "A" * size})
)
LINK = st.just(ContentPart(type="resource_link", data={"type": "resource_link", "uri": "file:///a", "name": "a"}))
RESULTS = st.builds(
    ToolResult,
    content=st.lists(TEXT | JSON_TEXT | RESOURCE | IMAGE | LINK, max_size=6).map(tuple),
    structured=st.none() | st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=30), max_size=6), max_size=6),
    is_error=st.booleans(),
    truncations=st.just(()) | st.just((Truncation(stage="transport", original=9000, kept=8000, unit="bytes"),)),
)
LIMITS = st.builds(
    ResultLimits,
    profile=st.just("octoc"),
    max_chars=st.integers(0, 150),
    max_tokens=st.integers(0, 40),
    keep=st.sampled_from(["head", "tail", "both"]),
    max_media_bytes=st.integers(0, 20),
)


def _keep(parts: tuple[str, ...]) -> str:
    return "r-handle"


def _of(text: str) -> ToolResult:
    return ToolResult.of_text(text)


def _limits(max_chars: int, **fields: Any) -> ResultLimits:
    return ResultLimits(profile="octoc", max_chars=max_chars, **fields)


def _cut(result: ToolResult, max_chars: int, **fields: Any) -> ToolResult:
    return truncate(result, _limits(max_chars, **fields), APPROXIMATE, _keep)


def _texts(result: ToolResult) -> list[str | None]:
    return [part.text for part in result.content]


def test_json_is_cut_as_json_with_a_notice_beside_it() -> None:
    """The part that was JSON still is, and the notice says what lacks and which call reads on."""
    cut = _cut(_of(json.dumps(RECORDS, indent=2)), 160)
    shown, notice = _texts(cut)
    assert shown is not None
    assert json.loads(shown) == {"total": 90, "items": [*ITEMS[:4], ITEMS[-1]]}
    assert notice == (
        "[octoc: kept 157 of 4,804 characters; /items: 5 of 90 items; "
        'read_result(handle="r-handle", json_pointer="/items", offset=4) continues]'
    )
    assert cut.truncations == (Truncation(stage="result", original=4804, kept=157, unit="chars"),)
    assert cut.handle == "r-handle"


@pytest.mark.parametrize(
    "keep, shown, where",
    [
        ("head", "0123456789ab", ", offset=12"),
        ("tail", "nopqrstuvwxyz"[1:], ""),
        ("both", "012\n[…]\nwxyz", ", offset=3"),
    ],
)
def test_text_keeps_the_end_that_is_asked_for(keep: str, shown: str, where: str) -> None:
    """Text keeps its head, its tail, or both with a gap that is plain to see."""
    cut = _cut(_of("0123456789abcdefghijklmnopqrstuvwxyz"), 12, keep=keep)
    notice = f'[octoc: kept 12 of 36 characters; read_result(handle="r-handle"{where}) continues]'
    assert _texts(cut) == [shown, notice]


def test_text_ends_with_a_line_where_one_is_near() -> None:
    """A cut is moved back to a line's end within a fiftieth of the limit."""
    assert _texts(_cut(_of("a" * 98 + "\n" + "b" * 50), 100))[0] == "a" * 98 + "\n"


def test_without_a_store_the_notice_names_no_handle() -> None:
    """Where nothing was kept, the notice promises nothing."""
    cut = truncate(_of("x" * 20), _limits(10), APPROXIMATE, lambda _: None)
    assert _texts(cut) == ["x" * 10, "[octoc: kept 10 of 20 characters]"]
    assert cut.handle is None


def test_media_have_their_own_cap() -> None:
    """An image over the cap becomes a line that says what it was; one within it stays, and costs no text."""
    small, large = (
        ContentPart(type="image", data={"type": "image", "mimeType": "image/png", "data": "A" * size})
        for size in (10, 2000)
    )
    cut = _cut(ToolResult(content=(small, large)), 100, max_media_bytes=1000)
    assert cut.content[0] is small
    assert _texts(cut)[1:] == [
        '[image/png, 2,000 bytes of base64, left out: read_result(handle="r-handle", part=1)]',
        '[octoc: 1 media replaced; read_result(handle="r-handle") continues]',
    ]


def test_structured_content_is_cut_as_json_by_a_limit_of_its_own() -> None:
    """Structured content stays an object that a program can use; the text beside it is not touched."""
    cut = _cut(ToolResult(content=_of("short").content, structured=RECORDS, is_error=True), 160)
    assert cut.structured == {"total": 90, "items": [*ITEMS[:4], ITEMS[-1]]}
    assert cut.is_error
    assert _texts(cut) == [
        "short",
        (
            "[octoc: kept 5 of 5 characters; structured content 157 of 2,452; /items: 5 of 90 items; "
            'read_result(handle="r-handle", part=1, json_pointer="/items", offset=4) continues]'
        ),
    ]


def test_cut_structured_content_has_no_number_that_json_does_not_have() -> None:
    """A transport's NaN and infinities are texts in what is left of the content."""
    numbers = [float("nan"), float("inf"), float("-inf")]
    cut = _cut(ToolResult(content=(), structured={"a": numbers, "b": "x" * 500}), 200)
    assert cut.structured is not None
    assert cut.structured["a"] == ["NaN", "Infinity", "-Infinity"]


def test_the_text_of_a_resource_counts() -> None:
    """An embedded resource's text is cut like any other, and the resource keeps its address."""
    data = {"type": "resource", "resource": {"uri": "file:///log", "text": "x" * 50}}
    cut = _cut(ToolResult(content=(ContentPart(type="resource", data=data),)), 20)
    assert cut.content[0].data == {"type": "resource", "resource": {"uri": "file:///log", "text": "x" * 20}}
    assert _texts(cut)[1] == (
        '[octoc: kept 20 of 50 characters; read_result(handle="r-handle", json_pointer="/resource/text", '
        "offset=20) continues]"
    )


def test_parts_behind_the_cut_are_counted() -> None:
    """A part that is not there is in the notice."""
    parts = tuple(ContentPart(type="text", text=text) for text in ("aaaa", "bbbb", "cccc"))
    assert _texts(_cut(ToolResult(content=parts), 6)) == [
        "aaaa",
        "b",
        (
            "[octoc: kept 5 of 12 characters; 1 of 3 parts left out; "
            'read_result(handle="r-handle", part=1, offset=1) continues]'
        ),
    ]


def test_a_result_within_the_limit_is_left_alone() -> None:
    """What fits is the same object."""
    result = ToolResult(content=_of("x" * 10).content, structured={"a": "12"})
    assert _cut(result, 10) is result


def _shown(result: ToolResult) -> str:
    return "\n".join(text for part in result.content if (text := text_of(part)) is not None)


@given(RESULTS, LIMITS)
def test_no_result_exceeds_its_limits_and_what_lacks_is_told_once(result: ToolResult, limits: ResultLimits) -> None:
    """Text and structured content are within the limits, at most one notice on top; cutting again changes nothing."""
    cut = truncate(result, limits, APPROXIMATE, _keep)
    assert truncate(cut, limits, APPROXIMATE, _keep) is cut
    assert cut.is_error == result.is_error
    notices = [part.text for part in cut.content if (part.text or "").startswith("[octoc: ")]
    if cut is result:
        assert notices == []
        rest = cut
    else:
        assert notices == [cut.content[-1].text]
        assert len(notices[0] or "") <= MAX_NOTICE_CHARS
        rest = attrs.evolve(cut, content=cut.content[:-1])
    assert len(_shown(rest)) <= limits.max_chars
    structured = "" if cut.structured is None else json.dumps(cut.structured, ensure_ascii=False, separators=(",", ":"))
    assert len(structured) <= limits.max_chars
    if limits.max_tokens and cut is not result:
        assert APPROXIMATE.count(_shown(rest)) <= limits.max_tokens
        assert APPROXIMATE.count(structured) <= limits.max_tokens
    for before, after in zip(result.content, cut.content, strict=False):
        if len(rest.content) == len(result.content) and before.text is not None and before.text[:1] == "[":
            json.loads(after.text or "")
    if result.truncations:
        assert "the server's answer was cut to 8,000 of 9,000 bytes" in (notices[0] or "")


@given(RESULTS, LIMITS)
def test_a_part_that_is_not_there_is_in_the_notice(result: ToolResult, limits: ResultLimits) -> None:
    """The notice counts the parts that were left out."""
    cut = truncate(result, limits, APPROXIMATE, _keep)
    gone = 0 if cut is result else len(result.content) - (len(cut.content) - 1)
    if gone:
        assert f"{gone} of {len(result.content)} parts left out" in (cut.content[-1].text or "")
    replaced = [record for record in cut.truncations if record.stage == "media"]
    assert all(record.original > limits.max_media_bytes and record.kept == 0 for record in replaced)


@given(st.text('a"\\é/~', min_size=1, max_size=60), st.booleans())
def test_a_notice_is_short_however_much_there_is_to_say(key: str, is_cut: bool) -> None:
    """Long keys, large figures and several things to tell stay within the notice's length."""
    dropped = Truncation(stage="transport", original=10**12, kept=10**9, unit="bytes")
    value = {key: {key: ["x" * 99] * 99}}
    parts = tuple(ContentPart(type="text", text=json.dumps(value)) for _ in range(3))
    result = ToolResult(content=parts, structured=value, truncations=(dropped,) if is_cut else ())
    cut = truncate(result, _limits(5000), APPROXIMATE, lambda _: f"r-{'h' * 16}")
    notice = cut.content[-1].text or ""
    assert len(notice) <= MAX_NOTICE_CHARS
    assert f'read_result(handle="r-{"h" * 16}"' in notice
