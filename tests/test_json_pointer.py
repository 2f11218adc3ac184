"""JSON pointers are written and read as RFC 6901 says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.json_pointer import index_of_token, key_of_token, pointer_to


@given(st.lists(st.text()))
def test_a_pointer_leads_back_to_its_path(path: list[str]) -> None:
    """Each key of a path is found again in the pointer to it."""
    assert [key_of_token(token) for token in pointer_to(path).split("/")[1:]] == path


def test_the_examples_of_the_standard_hold() -> None:
    """Slashes and tildes are escaped, and the whole value is the empty pointer."""
    assert [pointer_to(()), pointer_to(["a/b"]), pointer_to(["m~n", 0])] == ["", "/a~1b", "/m~0n/0"]


@pytest.mark.parametrize("token", ["3", "-1", "", "1.0", "\u0661", "9" * 5000, "x"])
def test_a_token_outside_a_list_has_no_index(token: str) -> None:
    """Anything but ASCII digits below the size leads nowhere, whatever its length."""
    assert index_of_token(token, 3) is None
    assert index_of_token("2", 3) == 2
