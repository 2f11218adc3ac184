from hypothesis import given
from hypothesis import strategies as st

from octoc.tokens import APPROXIMATE


def test_the_counter_is_named_after_its_rule() -> None:
    """Figures can say what counted them."""
    assert APPROXIMATE.name == "chars/4"


def test_four_characters_are_one_token() -> None:
    """A text has a token for every four whole characters, and at least one."""
    assert [APPROXIMATE.count(text) for text in ("", "abc", "abcd", "abcdefg", "abcdefgh")] == [1, 1, 1, 1, 2]


@given(st.text(), st.text())
def test_more_text_never_has_fewer_tokens(one: str, two: str) -> None:
    """Adding text does not lower the count."""
    assert APPROXIMATE.count(one + two) >= APPROXIMATE.count(one)
