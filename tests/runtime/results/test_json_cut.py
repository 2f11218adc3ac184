"""Laws of cutting JSON as JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.choices import KeptPart
from octoc.runtime.results.json_cut import MAX_DEPTH, JsonCutter, parse_container, whole, written

SCALARS = st.none() | st.booleans() | st.integers() | st.text('aé"\n🙂', max_size=30) | st.just("\ud800")
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text("ab/~", max_size=6), inner, max_size=8),
    max_leaves=60,
)
KEEP = st.sampled_from(["head", "tail", "both"])


def _same_shape(cut: Any, original: Any) -> bool:
    """Return whether `cut` has only parts of `original`, and strings that end in an ellipsis."""
    if isinstance(original, dict):
        return isinstance(cut, dict) and all(key in original and _same_shape(cut[key], original[key]) for key in cut)
    if isinstance(original, list):
        if not isinstance(cut, list):
            return False
        rest = iter(original)
        return all(any(_same_shape(one, other) for other in rest) for one in cut)
    if isinstance(original, str) and isinstance(cut, str) and cut.endswith("…"):
        return original.startswith(cut[:-1])
    return bool(cut == original)


@given(JSON, st.integers(0, 120), KEEP)
def test_what_is_cut_parses_fits_and_is_of_the_original(value: Any, room: int, keep: KeptPart) -> None:
    """Cut JSON is within its room and parses, and has only what the original has, in its order."""
    cutter = JsonCutter(keep)
    text = cutter.cut(value, room)
    if text is None:
        assert room < 3 or not isinstance(value, (dict, list, str))
        return
    assert len(text) <= room
    cut = json.loads(text)
    assert _same_shape(cut, json.loads(whole(value)))
    assert bool(cutter.omissions) == (text != whole(value))


@given(JSON, st.integers(2, 120), KEEP)
def test_omissions_say_how_much_is_there(value: Any, room: int, keep: KeptPart) -> None:
    """Each cut container is listed with the number of items kept and the total."""
    cutter = JsonCutter(keep)
    cutter.cut(value, room)
    for omission in cutter.omissions:
        assert 0 <= omission.kept < omission.total
        assert 0 <= omission.first < omission.total


def test_arrays_keep_whole_items_from_the_side_that_is_kept_and_one_of_the_other() -> None:
    """A long array loses its middle; `keep` says which end has more."""
    value = list(range(10, 100))
    assert JsonCutter("head").cut(value, 19) == "[10,11,12,13,14,99]"
    assert JsonCutter("tail").cut(value, 19) == "[10,95,96,97,98,99]"
    assert JsonCutter("both").cut(value, 19) == "[10,11,12,97,98,99]"


def test_objects_keep_their_small_members_and_share_the_rest() -> None:
    """A large member does not push out the small ones around it."""
    value = {"page": 1, "items": list(range(100, 1000)), "next": "token"}
    text = JsonCutter().cut(value, 80)
    assert text is not None
    cut = json.loads(text)
    assert (cut["page"], cut["next"], cut["items"][:3], cut["items"][-1]) == (1, "token", [100, 101, 102], 999)
    assert len(text) > 70


def test_a_long_string_ends_in_an_ellipsis() -> None:
    """A string loses its end, and no escape is cut through."""
    assert JsonCutter().cut({"s": "\n" * 50}, 20) == '{"s":"\\n\\n\\n\\n\\n"}'.replace('"}', '…"}')


def test_numbers_are_not_rounded() -> None:
    """A number with a fraction is written as the server wrote it."""
    text = '{"a": [1.10, 1e400, 0.12345678901234567890], "b": "' + "x" * 99 + '"}'
    cut = JsonCutter().cut(parse_container(text), 99)
    assert cut is not None
    assert cut.startswith('{"a":[1.10,1e400,0.12345678901234567890],"b":"x')


@pytest.mark.parametrize("text", ["[NaN]", "nothing", '"text"', "[1", "[" * 100_000 + "]" * 100_000])
def test_what_is_no_json_for_python_is_text(text: str) -> None:
    """Only an array or object that Python's parser takes is cut as JSON."""
    assert parse_container(text) is None


def test_values_of_any_depth_can_be_written_and_cut() -> None:
    """Nesting of 100,000 ends in no recursion error; what comes out is nested no deeper than parsers take."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert len(whole(deep)) == 200_002
    assert written(deep, 100) is None
    cut = JsonCutter().cut(deep, 40_000)
    assert cut is not None
    assert cut.count("[") <= MAX_DEPTH
    json.loads(cut)


@given(st.integers(1, 60), st.integers(10, 400))
def test_the_work_does_not_grow_with_what_is_left_out(depth: int, room: int) -> None:
    """However often a value is nested, no more of it is looked at than a few times what there is room for."""
    seen = 0

    class Counted(list[int]):
        def __iter__(self) -> Any:
            nonlocal seen
            for item in super().__iter__():
                seen += 1
                yield item

    value: Any = Counted([7] * 100_000)
    for _ in range(depth):
        value = {"id": 1, "below": value}
    JsonCutter().cut(value, room)
    assert seen <= 20 * room
