"""How much of a body is read, and in which encodings: real sockets on the loopback."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from octoc.plugin import ConnectFailedError, ToolFailure, ToolResult, Truncation
from octoc.testing import http_response, send_and_close

LIMIT = 4 * 1024 * 1024


def test_a_target_may_have_another_limit(call_of: Callable[..., Any], listing_of: Callable[..., Any]) -> None:
    """`max_body_bytes` of the target is where a body is cut, and where a listing is too long."""
    outcome = call_of(send_and_close(http_response(b'"' + b"x" * 50 + b'"')), max_body_bytes=10)
    assert outcome.truncations == (Truncation(stage="transport", original=52, kept=10, unit="bytes"),)
    assert outcome.text == '"' + "x" * 9
    with pytest.raises(ConnectFailedError, match="longer than 10 bytes"):
        listing_of(send_and_close(http_response(b"[" + b" " * 50 + b"]")), max_body_bytes=10)


def test_a_body_without_a_length_is_read_to_its_end(call_of: Callable[..., Any]) -> None:
    """An answer that ends with the connection is whole."""
    outcome = call_of(send_and_close(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b'{"a"', b": 1}"))
    assert outcome.structured == {"a": 1}


def test_gzip_is_understood(call_of: Callable[..., Any]) -> None:
    """A compressed answer is the answer."""
    body = gzip.compress(b'{"a": 1}')
    outcome = call_of(send_and_close(http_response(body, "200 OK", "application/json", "Content-Encoding: gzip")))
    assert outcome.structured == {"a": 1}


def test_a_body_of_exactly_the_limit_is_whole(call_of: Callable[..., Any]) -> None:
    """A body of 4,194,304 bytes is parsed."""
    outcome = call_of(send_and_close(http_response(b'["' + b"x" * (LIMIT - 4) + b'"]')))
    assert outcome.truncations == ()
    assert len(outcome.structured[0]) == LIMIT - 4


def test_a_body_beyond_the_limit_is_cut_text(call_of: Callable[..., Any]) -> None:
    """A longer body is text without structure, cut before the character that goes through the limit, and recorded."""
    body = b'["x' + "é".encode() * (5 * 512 * 1024) + b'"]'
    outcome = call_of(send_and_close(http_response(body)))
    assert isinstance(outcome, ToolResult)
    assert outcome.structured is None
    assert not outcome.is_error
    kept = len(outcome.text.encode())
    assert kept == LIMIT - 1
    assert outcome.text == '["x' + "é" * ((LIMIT - 4) // 2)
    assert outcome.truncations == (Truncation(stage="transport", original=len(body), kept=kept, unit="bytes"),)


def test_a_gzip_bomb_does_not_expand(call_of: Callable[..., Any]) -> None:
    """40 MB of compressed zeros become 4 MiB and a record that says what was seen; no more is ever in memory."""
    import tracemalloc

    body = gzip.compress(b"0" * 40_000_000)
    assert len(body) < 100_000
    tracemalloc.start()
    try:
        outcome = call_of(send_and_close(http_response(body, "200 OK", "application/json", "Content-Encoding: gzip")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (truncation,) = outcome.truncations
    assert len(outcome.text) == truncation.kept == LIMIT
    assert truncation.original > LIMIT
    assert peak < 6 * LIMIT


def test_a_long_error_is_not_looked_into(call_of: Callable[..., Any]) -> None:
    """An error body beyond the limit is a failure with the status, whatever message it holds."""
    outcome = call_of(send_and_close(http_response(b'{"message":"' + b"x" * LIMIT + b'"}', "500 X")))
    assert isinstance(outcome, ToolFailure)
    assert "HTTP 500" in outcome.message


def test_a_listing_beyond_the_limit_fails(listing_of: Callable[..., Any]) -> None:
    """A list of tools over the limit fails the listing."""
    with pytest.raises(ConnectFailedError, match="longer than 4194304 bytes"):
        listing_of(send_and_close(http_response(b'["' + b"x" * LIMIT + b'"]')))


def test_half_a_character_is_replaced(call_of: Callable[..., Any]) -> None:
    """A lone surrogate, which no UTF-8 can hold, is replaced in what was parsed; a pair is its character."""
    outcome = call_of(send_and_close(http_response(rb'{"a": "half \ud83d of \ud83d\ude00"}')))
    assert outcome.structured == {"a": "half ? of \U0001f600"}
