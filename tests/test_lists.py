"""Lists of names and words in messages."""

from __future__ import annotations

from octoc.lists import all_of, any_of, name_list, one_of, some_names


def test_many_names_are_not_all_shown() -> None:
    """A message names a few of many, and says how many others there are."""
    assert some_names([]) == "none"
    assert some_names(["a", "b"], limit=2) == "`a`, `b`"
    assert some_names(["a", "b", "c", "d"], limit=2) == "`a`, `b` and 2 more"


def test_the_last_of_a_list_has_its_word() -> None:
    """One text stands alone, two have the word between them, and the others a comma."""
    assert [any_of("a"), any_of("ab"), any_of("abc")] == ["a", "a or b", "a, b or c"]
    assert all_of("abc") == "a, b and c"
    assert one_of(["a", 2]) == "`a` or `2`"
    assert [name_list([]), name_list(iter("ab"))] == ["", "`a`, `b`"]
