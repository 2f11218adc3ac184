"""Expressions of untrusted files: what google-re2 accepts, and why it refuses the rest."""

from __future__ import annotations

import pytest

from octoc.linear_regex import RegexError, compile_regex


def test_an_expression_searches_as_one_of_re_does() -> None:
    """A compiled expression finds its match."""
    assert compile_regex(r"b(\d)").search("ab1")[1] == "1"


@pytest.mark.parametrize(
    "expression, why",
    [("(", "missing )"), (r"(a)\1", "invalid escape sequence"), ("a\ud800", "half a surrogate pair")],
)
def test_a_refused_expression_has_a_reason(expression: str, why: str) -> None:
    """An expression outside google-re2's dialect raises an error with its reason."""
    with pytest.raises(RegexError, match=why.replace(")", r"\)")):
        compile_regex(expression)


def test_the_memory_of_an_expression_is_limited() -> None:
    """An expression that needs more than `max_bytes` is refused."""
    assert compile_regex("(a{100}){9}").fullmatch("a" * 900)
    with pytest.raises(RegexError):
        compile_regex("(a{100}){9}", 1 << 12)
