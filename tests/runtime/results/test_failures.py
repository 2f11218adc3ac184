"""How failures are worded, and what of them is kept from a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.runtime.results.failures import failure
from octoc.secrets import redact


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
