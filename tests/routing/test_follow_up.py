"""What of a message's form tells whether it goes on with an earlier one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.follow_up import CUES, cues, earlier_texts


@pytest.mark.parametrize("begins", ["and the other one", "Now close", "ok, that", "und bei Mietern", "what about Oslo"])
def test_a_continuation_is_seen_by_its_beginning(begins: str) -> None:
    """A message that begins with a connecting word follows; a longer word with the same beginning does not count."""
    assert cues(begins)[1] > 0
    assert cues("android phones of our shop")[1] == 0


def test_what_points_at_something_is_seen() -> None:
    """Pronouns and ordinals refer to an earlier message."""
    assert cues("close the second")[2] > 0
    assert cues("close ticket 14 of the shop")[2] == 0


@given(st.text())
def test_any_text_has_its_cues(text: str) -> None:
    """Each figure is bounded, so that none outweighs the vector, however long a message is."""
    found = cues(text)
    assert len(found) == CUES
    assert all(0 <= figure <= 1 for figure in found)


def test_earlier_messages_are_read_from_the_latest_on() -> None:
    """Each is decided by itself, and together with all that came after it."""
    assert list(earlier_texts("and 5?", ["hello", "is theatre 3 late?"])) == [
        ("is theatre 3 late?", "is theatre 3 late?\nand 5?"),
        ("hello", "hello\nis theatre 3 late?\nand 5?"),
    ]
    assert list(earlier_texts("and 5?", [])) == []
