"""What a caller gets when a server misbehaves: real sockets on the loopback, each with its own fault."""

import datetime as dt
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from octoc.plugin import ConnectFailedError, ToolFailure, ToolResult
from octoc.testing import REST_TOKEN, RestConversation, send_slowly
from octoc.testing import http_response as response
from octoc.testing import send_and_close as send

LIMIT = 4 * 1024 * 1024

HTML = b"<html>down</html>"
FAULTS: dict[str, tuple[RestConversation, str, str]] = {
    "gone before its answer": (send(), "connection_lost", "closed the connection before its answer"),
    "401 with HTML": (
        send(response(HTML, "401 X", "text/html")),
        "unauthorized",
        "HTTP 401 and `text/html`",
    ),
    "404 with HTML": (
        send(response(HTML, "404 X", "text/html")),
        "not_found",
        "HTTP 404 and `text/html`",
    ),
    "500 with HTML": (
        send(response(HTML, "500 X", "text/html; charset=x")),
        "protocol",
        "HTTP 500 and `text/html`",
    ),
    "500 with nothing": (send(response(b"", "500 X", None)), "protocol", "HTTP 500 and no content type"),
    "500 with JSON without a message": (
        send(response(b'{"error":"x"}', "500 X")),
        "protocol",
        "HTTP 500",
    ),
    "500 with a number as its message": (
        send(response(b'{"message":1}', "500 X")),
        "protocol",
        "HTTP 500",
    ),
    "500 with broken JSON": (send(response(b"{", "500 X")), "protocol", "HTTP 500"),
    "302 to another host": (
        send(response(b"", "302 X", None, "Location: https://evil.example/")),
        "protocol",
        "HTTP 302: it redirects, which is not followed",
    ),
    "307 with a message": (
        send(response(b'{"message":"go"}', "307 X", "application/json", "Location: /x")),
        "protocol",
        "it redirects",
    ),
    "204": (send(b"HTTP/1.1 204 No Content\r\n\r\n"), "protocol", "HTTP 204"),
    "another content type": (
        send(response(b"{}", kind="text/plain")),
        "protocol",
        "with `text/plain` where",
    ),
    "no content type": (send(response(b"{}", kind=None)), "protocol", "with no content type where"),
    "JSON that is cut": (
        send(response(b'{"a": [1,', length=100)),
        "connection_lost",
        "in the middle of its answer",
    ),
    "JSON that ends with the connection": (
        send(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"a": [1,'),
        "protocol",
        "not JSON: Expecting value at line 1, column 10",
    ),
    "an empty body": (send(response(b"")), "protocol", "not JSON"),
    "no JSON": (send(response(b"hello")), "protocol", "not JSON"),
    "NaN": (send(response(b'{"a": NaN}')), "protocol", "`NaN` is not JSON"),
    "no UTF-8": (send(response(b'"\xff"')), "protocol", "it is not UTF-8"),
    "JSON nested 100,000 deep": (
        send(response(b"[" * 100_000 + b"]" * 100_000)),
        "protocol",
        "too deep",
    ),
    "a flood of headers": (
        send(b"HTTP/1.1 200 OK\r\n", *[b"X-%d: %s\r\n" % (n, b"y" * 1000) for n in range(400)]),
        "too_large",
        "headers that are too long",
    ),
    "one endless header": (
        send(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000),
        "too_large",
        "headers that are too long",
    ),
    "no HTTP": (send(b"220 mail.example ESMTP\r\n\r\n"), "protocol", "does not speak HTTP/1.1"),
    "broken gzip": (
        send(response(b"no gzip", "200 OK", "application/json", "Content-Encoding: gzip")),
        "protocol",
        "broken gzip",
    ),
    "gzip that ends too early": (
        send(response(gzip.compress(b"[1, 2, 3]")[:-9], "200 OK", "application/json", "Content-Encoding: gzip")),
        "protocol",
        "gzip that ends too early",
    ),
    "another encoding": (
        send(response(b"x", "200 OK", "application/json", "Content-Encoding: br")),
        "protocol",
        "content encoding `br`",
    ),
    "malformed chunks": (
        send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
        "protocol",
        "does not speak HTTP/1.1",
    ),
    "a message that echoes the token on a redirect": (
        send(response(b"", f"302 {REST_TOKEN}", f"text/{REST_TOKEN}")),
        "protocol",
        "HTTP 302",
    ),
    "a content type that echoes the token": (
        send(response(b"{}", kind=f"text/{REST_TOKEN}")),
        "protocol",
        "`text/***`",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_a_failure_that_says_which(case: str, call_of: Callable[..., Any]) -> None:
    """Each fault of a server is a failure of its kind, in one line, without the token; the connection lives on."""
    talk, kind, expected = FAULTS[case]
    outcome = call_of(talk)
    assert isinstance(outcome, ToolFailure), outcome
    assert outcome.kind == kind, outcome
    assert expected in outcome.message
    assert outcome.text == outcome.message
    assert "orders" in outcome.message
    assert "\n" not in outcome.message
    assert REST_TOKEN not in str(outcome)


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_while_listing_is_a_failed_connection(case: str, listing_of: Callable[..., Any]) -> None:
    """The same faults, met while listing the tools, raise ConnectFailedError with one line without the token."""
    talk, _, expected = FAULTS[case]
    with pytest.raises(ConnectFailedError) as caught:
        listing_of(talk)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert REST_TOKEN not in str(caught.value)


SLOW: dict[str, RestConversation] = {
    "no answer": send_slowly(b"", b""),
    "slow headers": send_slowly(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "a slow body": send_slowly(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[", b" "),
    "provisional answers without end": send_slowly(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
}


@pytest.mark.parametrize("case", SLOW)
def test_time_is_limited_around_everything(case: str, call_of: Callable[..., Any]) -> None:
    """However a server dawdles, also while something always arrives, the call is a time-out."""
    outcome = call_of(SLOW[case], timeout_s=0.3)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.message) == ("timeout", "`orders` did not answer `find` within 0.3 s")


@pytest.mark.parametrize("case", SLOW)
def test_time_is_limited_while_listing(case: str, listing_of: Callable[..., Any]) -> None:
    """The listing ends with the target's own time-out."""
    with pytest.raises(ConnectFailedError, match=r"did not list its tools within 0\.5 s"):
        listing_of(SLOW[case], timeout_s=0.5)


@pytest.mark.parametrize("status", ["400 X", "403 X", "404 X", "422 X", "500 X", "503 X"])
@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/problem+json"])
def test_a_servers_message_is_relayed(status: str, kind: str, call_of: Callable[..., Any]) -> None:
    """The `message` of a JSON error is the result's text, an error, and the whole object is its structure."""
    body = {"error": "bad", "message": "Order 7\ndoes not exist.", "field": "id"}
    outcome = call_of(send(response(json.dumps(body).encode(), status, kind)))
    assert isinstance(outcome, ToolResult)
    assert (outcome.is_error, outcome.text) == (True, "Order 7\ndoes not exist.")
    assert outcome.structured == body


def test_a_relayed_message_shows_no_secret(call_of: Callable[..., Any]) -> None:
    """A token that a server echoes is cut out of text and structure."""
    body = {"message": f"Bearer {REST_TOKEN} is wrong", "seen": [{"token": REST_TOKEN}]}
    outcome = call_of(send(response(json.dumps(body).encode(), "403 X")))
    assert outcome.text == "Bearer *** is wrong"
    assert REST_TOKEN not in str(outcome)


def test_a_relayed_message_can_be_written(call_of: Callable[..., Any]) -> None:
    """A lone surrogate in a message, which no UTF-8 can hold, is replaced."""
    outcome = call_of(send(response(rb'{"message": "half \ud83d"}', "500 X")))
    assert outcome.text == "half ?"


LATER = format(dt.datetime(2199, 1, 1, tzinfo=dt.UTC), "%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize("status", ["429 X", "503 X"])
@pytest.mark.parametrize(
    "header, body, least",
    [("7", b"{}", 7.0), (LATER, b"{}", 86_400.0), ("7", b'{"retry_after": 2.5}', 2.5), ("7", HTML, 7.0)],
)
def test_when_to_try_again_is_part_of_a_failure(
    status: str, header: str, body: bytes, least: float, call_of: Callable[..., Any]
) -> None:
    """Without a message, 429 and 503 are failures with the seconds that the server asks to wait."""
    outcome = call_of(send(response(body, status, "application/json", f"Retry-After: {header}")))
    assert isinstance(outcome, ToolFailure)
    assert outcome.kind == "unavailable"
    assert outcome.retry_after_s is not None
    assert outcome.retry_after_s == least or header == LATER
    assert outcome.retry_after_s >= least


def test_a_message_is_relayed_with_when_to_try_again(call_of: Callable[..., Any]) -> None:
    """A message that comes with a time to wait stands in the failure, beside that time."""
    outcome = call_of(send(response(b'{"message":"slow down."}', "429 X", "application/json", "Retry-After: 9")))
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.retry_after_s, outcome.sent) == ("unavailable", 9.0, False)
    assert outcome.message == "`orders` answered `find` with HTTP 429: slow down"


def test_a_refused_credential_says_what_to_look_at(call_of: Callable[..., Any], listing_of: Callable[..., Any]) -> None:
    """A 401 is a failure of its own kind, with the server's words and the next step that the target knows."""
    talk = send(response(b'{"message":"token expired"}', "401 X"))
    login = "look at what `ORDERS_TOKEN` holds"
    expected = f"HTTP 401: token expired: {login}"
    outcome = call_of(talk, login=login)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == ("unauthorized", False)
    assert outcome.message == f"`orders` answered `find` with {expected}"
    with pytest.raises(ConnectFailedError, match=expected) as caught:
        listing_of(talk, login=login)
    assert (caught.value.kind, caught.value.permanent) == ("unauthorized", True)


def test_what_the_credentials_may_not_do_says_so(call_of: Callable[..., Any]) -> None:
    """A 403 without a message is `unauthorized`, and logging in again is not the advice."""
    outcome = call_of(send(response(HTML, "403 X", "text/html")), login="run `octoc auth login orders`")
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == ("unauthorized", False)
    assert outcome.message == "`orders` answered `find` with HTTP 403 and `text/html`: its credentials may not do this"


@pytest.mark.parametrize(
    "talk, kind, wait",
    [
        (send(response(HTML, "503 X", "text/html", "Retry-After: 3")), "connect_failed", 3.0),
        (send(response(b"[")), "protocol", None),
        (send(response(b'["' + b"x" * LIMIT + b'"]')), "too_large", None),
        (send(), "connect_failed", None),
    ],
    ids=["busy", "no JSON", "too long", "gone"],
)
def test_a_failed_listing_has_its_kind(
    talk: RestConversation, kind: str, wait: float | None, listing_of: Callable[..., Any]
) -> None:
    """A failed listing has its kind and the time to wait, and may be tried again."""
    with pytest.raises(ConnectFailedError) as caught:
        listing_of(talk)
    assert (caught.value.kind, caught.value.retry_after_s, caught.value.permanent) == (kind, wait, False)


def test_what_was_sent_says_so(call_of: Callable[..., Any]) -> None:
    """A server that was silent, or went away, may have done what it was asked."""
    for talk in (send(), send_slowly(b"", b"")):
        outcome = call_of(talk, timeout_s=0.3)
        assert isinstance(outcome, ToolFailure)
        assert outcome.sent


def test_another_failure_asks_for_no_wait(call_of: Callable[..., Any]) -> None:
    """A 500 has no time to wait, whatever its header says."""
    outcome = call_of(send(response(HTML, "500 X", "text/html", "Retry-After: 9")))
    assert outcome.retry_after_s is None
