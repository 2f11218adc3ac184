"""What a caller gets when a server misbehaves: real sockets on the loopback, each with its own fault."""

import asyncio
import contextlib
import datetime as dt
import gzip
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest

from octoc.plugin import Connection, ConnectionFailed, ServerTarget
from octoc.results import Caller, ServerListing, ToolCall, ToolFailure, ToolResult, Truncation
from octoc_transport_rest import octoc_make_transport

LIMIT = 4 * 1024 * 1024
TOKEN = "s3cr3t-t0ken"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes, status: str = "200 OK", kind: str | None = "application/json", *more: str, length: int | None = None
) -> bytes:
    """Return a whole response; `length` is what it claims, its body's own by default."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *more]
    lines += [] if kind is None else [f"Content-Type: {kind}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


HEALTHY = answer(b'{"status":"ok","version":"1.2.3"}')


@attrs.define
class Faulty:
    """A server that is healthy, and answers every other request as `talk` does. It keeps what it was asked."""

    talk: Talk
    asked: list[bytes] = attrs.field(factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked.append(head)
                if head.startswith(b"GET /api/health "):
                    writer.write(HEALTHY)
                    continue
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        await reader.readexactly(int(line.partition(b":")[2]))
                await self.talk(reader, writer)
                await writer.drain()
                break
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def says(*pieces: bytes) -> Talk:
    """Return a server's part that sends `pieces` and closes."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return talk


def slowly(before: bytes, again: bytes) -> Talk:
    """Return a server's part that sends `before`, and then `again` twenty times a second for ever."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0.05)

    return talk


async def visited(talk: Talk, visit: Callable[[Connection], Awaitable[Any]], **fields: Any) -> tuple[Any, Faulty]:
    """Return what `visit` made of a connection to a server that answers as `talk`, and that server."""
    faulty = Faulty(talk)
    tasks: set[asyncio.Task[Any]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(asyncio.CancelledError):
            await faulty(reader, writer)
        writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    target = ServerTarget(
        **{
            "name": "orders",
            "transport": "rest",
            "url": f"http://127.0.0.1:{port}/api/",
            "auth": {"type": "bearer", "token": TOKEN},
            "secrets": (TOKEN,),
            **fields,
        }
    )
    transport = octoc_make_transport("rest")
    assert transport is not None
    try:
        connection = await transport.connect(target)
        try:
            return await visit(connection), faulty
        finally:
            await connection.close()
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def call_of(talk: Talk, timeout_s: float = 20.0, **fields: Any) -> Any:
    """Return the outcome of one call to a server that answers as `talk`."""

    async def visit(connection: Connection) -> ToolResult | ToolFailure:
        outcome = await connection.call(ToolCall(tool="find", arguments={"q": 1}, timeout_s=timeout_s))
        assert connection.alive
        return outcome

    return asyncio.run(visited(talk, visit, **fields))[0]


def listing_of(talk: Talk, **fields: Any) -> ServerListing:
    """Return the listing of a server that answers as `talk`. Raises: ConnectionFailed."""

    async def visit(connection: Connection) -> ServerListing:
        return await connection.list_tools()

    listing: ServerListing = asyncio.run(visited(talk, visit, **fields))[0]
    return listing


HTML = b"<html>down</html>"
FAULTS: dict[str, tuple[Talk, str, str]] = {
    "gone before its answer": (says(), "connection_lost", "closed the connection before its answer"),
    "401 with HTML": (says(answer(HTML, "401 X", "text/html")), "unauthorized", "HTTP 401 and `text/html`"),
    "404 with HTML": (says(answer(HTML, "404 X", "text/html")), "not_found", "HTTP 404 and `text/html`"),
    "500 with HTML": (says(answer(HTML, "500 X", "text/html; charset=x")), "protocol", "HTTP 500 and `text/html`"),
    "500 with nothing": (says(answer(b"", "500 X", None)), "protocol", "HTTP 500 and no content type"),
    "500 with JSON without a message": (says(answer(b'{"error":"x"}', "500 X")), "protocol", "HTTP 500"),
    "500 with a message that is no text": (says(answer(b'{"message":1}', "500 X")), "protocol", "HTTP 500"),
    "500 with broken JSON": (says(answer(b"{", "500 X")), "protocol", "HTTP 500"),
    "302 to another host": (
        says(answer(b"", "302 X", None, "Location: https://evil.example/")),
        "protocol",
        "HTTP 302: it redirects, which is not followed",
    ),
    "307 with a message": (
        says(answer(b'{"message":"go"}', "307 X", "application/json", "Location: /x")),
        "protocol",
        "it redirects",
    ),
    "204": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), "protocol", "HTTP 204"),
    "another content type": (says(answer(b"{}", kind="text/plain")), "protocol", "with `text/plain` where"),
    "no content type": (says(answer(b"{}", kind=None)), "protocol", "with no content type where"),
    "JSON that is cut": (says(answer(b'{"a": [1,', length=100)), "connection_lost", "in the middle of its answer"),
    "JSON that ends with the connection": (
        says(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"a": [1,'),
        "protocol",
        "no JSON: Expecting value at line 1, column 10",
    ),
    "an empty body": (says(answer(b"")), "protocol", "no JSON"),
    "no JSON": (says(answer(b"hello")), "protocol", "no JSON"),
    "NaN": (says(answer(b'{"a": NaN}')), "protocol", "`NaN` is not JSON"),
    "no UTF-8": (says(answer(b'"\xff"')), "protocol", "it is not UTF-8"),
    "JSON nested 100,000 deep": (says(answer(b"[" * 100_000 + b"]" * 100_000)), "protocol", "too deep"),
    "a flood of headers": (
        says(b"HTTP/1.1 200 OK\r\n", *[b"X-%d: %s\r\n" % (n, b"y" * 1000) for n in range(400)]),
        "too_large",
        "headers that are too long",
    ),
    "one endless header": (says(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000), "too_large", "headers that are too long"),
    "no HTTP": (says(b"220 mail.example ESMTP\r\n\r\n"), "protocol", "does not speak HTTP/1.1"),
    "broken gzip": (
        says(answer(b"no gzip", "200 OK", "application/json", "Content-Encoding: gzip")),
        "protocol",
        "broken gzip",
    ),
    "gzip that ends too early": (
        says(answer(gzip.compress(b"[1, 2, 3]")[:-9], "200 OK", "application/json", "Content-Encoding: gzip")),
        "protocol",
        "gzip that ends too early",
    ),
    "another encoding": (
        says(answer(b"x", "200 OK", "application/json", "Content-Encoding: br")),
        "protocol",
        "content encoding `br`",
    ),
    "chunks that are none": (
        says(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
        "protocol",
        "does not speak HTTP/1.1",
    ),
    "a message that echoes the token on a redirect": (
        says(answer(b"", f"302 {TOKEN}", f"text/{TOKEN}")),
        "protocol",
        "HTTP 302",
    ),
    "a content type that echoes the token": (says(answer(b"{}", kind=f"text/{TOKEN}")), "protocol", "`text/***`"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_a_failure_that_says_which(case: str) -> None:
    """Each fault of a server is a failure of its kind, in one line, without the token; the connection lives on."""
    talk, kind, expected = FAULTS[case]
    outcome = call_of(talk)
    assert isinstance(outcome, ToolFailure), outcome
    assert outcome.kind == kind, outcome
    assert expected in outcome.message
    assert outcome.text == outcome.message
    assert "orders" in outcome.message
    assert "\n" not in outcome.message
    assert TOKEN not in str(outcome)


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_while_listing_is_a_failed_connection(case: str) -> None:
    """The same faults, met while listing the tools, raise ConnectionFailed with one line without the token."""
    talk, _, expected = FAULTS[case]
    with pytest.raises(ConnectionFailed) as caught:
        listing_of(talk)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)


SLOW: dict[str, Talk] = {
    "no answer": slowly(b"", b""),
    "slow headers": slowly(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "a slow body": slowly(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[", b" "),
    "provisional answers without end": slowly(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
}


@pytest.mark.parametrize("case", SLOW)
def test_time_is_limited_around_everything(case: str) -> None:
    """However a server dawdles, also while something always arrives, the call is a time-out."""
    outcome = call_of(SLOW[case], timeout_s=0.3)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.message) == ("timeout", "`orders` did not answer `find` within 0.3 s")


@pytest.mark.parametrize("case", SLOW)
def test_time_is_limited_while_listing(case: str) -> None:
    """The listing ends with the target's own time-out."""
    with pytest.raises(ConnectionFailed, match=r"did not list its tools within 0\.5 s"):
        listing_of(SLOW[case], timeout_s=0.5)


@pytest.mark.parametrize("status", ["400 X", "403 X", "404 X", "422 X", "500 X", "503 X"])
@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/problem+json"])
def test_a_servers_message_is_relayed(status: str, kind: str) -> None:
    """The `message` of a JSON error is the result's text, an error, and the whole object is its structure."""
    body = {"error": "bad", "message": "Order 7\ndoes not exist.", "field": "id"}
    outcome = call_of(says(answer(json.dumps(body).encode(), status, kind)))
    assert isinstance(outcome, ToolResult)
    assert (outcome.is_error, outcome.text) == (True, "Order 7\ndoes not exist.")
    assert outcome.structured == body


def test_a_relayed_message_shows_no_secret() -> None:
    """A token that a server echoes is cut out of text and structure."""
    body = {"message": f"Bearer {TOKEN} is wrong", "seen": [{"token": TOKEN}]}
    outcome = call_of(says(answer(json.dumps(body).encode(), "403 X")))
    assert outcome.text == "Bearer *** is wrong"
    assert TOKEN not in str(outcome)


def test_a_relayed_message_can_be_written() -> None:
    """A lone surrogate in a message, which no UTF-8 can hold, is replaced."""
    outcome = call_of(says(answer(rb'{"message": "half \ud83d"}', "500 X")))
    assert outcome.text == "half ?"


LATER = format(dt.datetime(2199, 1, 1, tzinfo=dt.UTC), "%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize("status", ["429 X", "503 X"])
@pytest.mark.parametrize(
    "header, body, least",
    [("7", b"{}", 7.0), (LATER, b"{}", 1e6), ("7", b'{"retry_after": 2.5}', 2.5), ("7", HTML, 7.0)],
)
def test_when_to_try_again_is_part_of_a_failure(status: str, header: str, body: bytes, least: float) -> None:
    """Without a message, 429 and 503 are failures with the seconds that the server asks to wait."""
    outcome = call_of(says(answer(body, status, "application/json", f"Retry-After: {header}")))
    assert isinstance(outcome, ToolFailure)
    assert outcome.kind == "unavailable"
    assert outcome.retry_after_s is not None
    assert outcome.retry_after_s == least or header == LATER
    assert outcome.retry_after_s >= least


def test_a_message_is_relayed_with_when_to_try_again() -> None:
    """A message that comes with a time to wait stands in the failure, beside that time."""
    outcome = call_of(says(answer(b'{"message":"slow down."}', "429 X", "application/json", "Retry-After: 9")))
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.retry_after_s, outcome.sent) == ("unavailable", 9.0, False)
    assert outcome.message == "`orders` answered `find` with HTTP 429: slow down"


def test_a_refused_credential_says_what_to_look_at() -> None:
    """A 401 is a failure of its own kind, with the server's words and the next step that the target knows."""
    talk = says(answer(b'{"message":"token expired"}', "401 X"))
    login = "look at what `ORDERS_TOKEN` holds"
    expected = f"HTTP 401: token expired: {login}"
    outcome = call_of(talk, login=login)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == ("unauthorized", False)
    assert outcome.message == f"`orders` answered `find` with {expected}"
    with pytest.raises(ConnectionFailed, match=expected) as caught:
        listing_of(talk, login=login)
    assert (caught.value.kind, caught.value.permanent) == ("unauthorized", True)


def test_what_the_credentials_may_not_do_says_so() -> None:
    """A 403 without a message is `unauthorized`, and logging in again is not the advice."""
    outcome = call_of(says(answer(HTML, "403 X", "text/html")), login="run `octoc auth login orders`")
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == ("unauthorized", False)
    assert outcome.message == "`orders` answered `find` with HTTP 403 and `text/html`: its credentials may not do this"


@pytest.mark.parametrize(
    "talk, kind, wait",
    [
        (says(answer(HTML, "503 X", "text/html", "Retry-After: 3")), "connect_failed", 3.0),
        (says(answer(b"[")), "protocol", None),
        (says(answer(b'["' + b"x" * LIMIT + b'"]')), "too_large", None),
        (says(), "connect_failed", None),
    ],
    ids=["busy", "no JSON", "too long", "gone"],
)
def test_a_failed_listing_has_its_kind(talk: Talk, kind: str, wait: float | None) -> None:
    """What went wrong while listing is told by its kind, with the time to wait, and may be tried again."""
    with pytest.raises(ConnectionFailed) as caught:
        listing_of(talk)
    assert (caught.value.kind, caught.value.retry_after_s, caught.value.permanent) == (kind, wait, False)


@pytest.mark.parametrize(
    "call, kind",
    [
        (ToolCall(tool="No-Such", arguments={}, timeout_s=1.0), "not_found"),
        (ToolCall(tool="find", arguments={"x": {1, 2}}, timeout_s=1.0), "bad_request"),
        (ToolCall(tool="find", arguments={}, timeout_s=1.0, caller=Caller(tenant="a\r\nX: y")), "bad_request"),
    ],
    ids=["a name", "arguments", "a tenant"],
)
def test_what_was_never_sent_says_so(call: ToolCall, kind: str) -> None:
    """A call that is refused before anything goes out may safely be repeated, and the server never sees it."""

    async def visit(connection: Connection) -> ToolResult | ToolFailure:
        return await connection.call(call)

    outcome, faulty = asyncio.run(visited(says(answer(b"1")), visit))
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == (kind, False)
    assert not any(head.startswith(b"POST") for head in faulty.asked)


def test_what_was_sent_says_so() -> None:
    """A server that was silent, or went away, may have done what it was asked."""
    for talk in (says(), slowly(b"", b"")):
        outcome = call_of(talk, timeout_s=0.3)
        assert isinstance(outcome, ToolFailure)
        assert outcome.sent


def test_a_target_may_have_another_limit() -> None:
    """`max_body_bytes` of the target is where a body is cut, and where a listing is too long."""
    outcome = call_of(says(answer(b'"' + b"x" * 50 + b'"')), max_body_bytes=10)
    assert outcome.truncations == (Truncation(stage="transport", original=52, kept=10, unit="bytes"),)
    assert outcome.text == '"' + "x" * 9
    with pytest.raises(ConnectionFailed, match="longer than 10 bytes"):
        listing_of(says(answer(b"[" + b" " * 50 + b"]")), max_body_bytes=10)


def test_another_failure_asks_for_no_wait() -> None:
    """A 500 has no time to wait, whatever its header says."""
    outcome = call_of(says(answer(HTML, "500 X", "text/html", "Retry-After: 9")))
    assert outcome.retry_after_s is None


def test_a_body_without_a_length_is_read_to_its_end() -> None:
    """An answer that ends with the connection is whole."""
    outcome = call_of(says(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b'{"a"', b": 1}"))
    assert outcome.structured == {"a": 1}


def test_gzip_is_understood() -> None:
    """A compressed answer is the answer."""
    body = gzip.compress(b'{"a": 1}')
    outcome = call_of(says(answer(body, "200 OK", "application/json", "Content-Encoding: gzip")))
    assert outcome.structured == {"a": 1}


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    """A body of 4,194,304 bytes is parsed."""
    outcome = call_of(says(answer(b'["' + b"x" * (LIMIT - 4) + b'"]')))
    assert outcome.truncations == ()
    assert len(outcome.structured[0]) == LIMIT - 4


def test_a_body_beyond_the_limit_is_cut_text() -> None:
    """A longer body is text without structure, cut before the character that goes through the limit, and recorded."""
    body = b'["x' + "é".encode() * (5 * 512 * 1024) + b'"]'
    outcome = call_of(says(answer(body)))
    assert isinstance(outcome, ToolResult)
    assert outcome.structured is None
    assert not outcome.is_error
    kept = len(outcome.text.encode())
    assert kept == LIMIT - 1
    assert outcome.text == '["x' + "é" * ((LIMIT - 4) // 2)
    assert outcome.truncations == (Truncation(stage="transport", original=len(body), kept=kept, unit="bytes"),)


def test_a_gzip_bomb_does_not_expand() -> None:
    """40 MB of compressed zeros become 4 MiB and a record that says what was seen; no more is ever in memory."""
    import tracemalloc

    body = gzip.compress(b"0" * 40_000_000)
    assert len(body) < 100_000
    tracemalloc.start()
    try:
        outcome = call_of(says(answer(body, "200 OK", "application/json", "Content-Encoding: gzip")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (truncation,) = outcome.truncations
    assert len(outcome.text) == truncation.kept == LIMIT
    assert truncation.original > LIMIT
    assert peak < 6 * LIMIT


def test_a_long_error_is_not_looked_into() -> None:
    """An error body beyond the limit is a failure with the status, whatever message it holds."""
    outcome = call_of(says(answer(b'{"message":"' + b"x" * LIMIT + b'"}', "500 X")))
    assert isinstance(outcome, ToolFailure)
    assert "HTTP 500" in outcome.message


def test_a_listing_beyond_the_limit_fails() -> None:
    """A list of tools that would be cut is no list."""
    with pytest.raises(ConnectionFailed, match="longer than 4194304 bytes"):
        listing_of(says(answer(b'["' + b"x" * LIMIT + b'"]')))


def descriptor(name: Any, **more: Any) -> dict[str, Any]:
    """Return a sound descriptor, changed by `more`."""
    return {"name": name, "description": "d", "inputSchema": {"type": "object"}, **more}


def listed(descriptors: Any) -> ServerListing:
    """Return the listing of a server that answers `descriptors`."""
    return listing_of(says(answer(json.dumps(descriptors).encode())))


def test_a_hundred_tools_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    """Of 103 tools the first 100 are listed, and a warning counts and names the rest."""
    listing = listed([descriptor(f"t{n}") for n in range(103)])
    assert [tool.name for tool in listing.tools] == [f"t{n}" for n in range(100)]
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    expected = "`orders` lists 103 tools: the first 100 are taken, and 3 left out: `t100`, `t101`, `t102`"
    assert record.getMessage() == expected
    assert listing.server_info["toolsLeftOut"] == 3


@pytest.mark.parametrize(
    "broken, why",
    [
        (descriptor("get-order"), "`get-order` is not of the form"),
        (descriptor("Upper"), "`Upper` is not of the form"),
        (descriptor("a.b"), "is not of the form"),
        (descriptor("a b"), "is not of the form"),
        (descriptor("../x\n"), "is not of the form"),
        (descriptor(""), "is not of the form"),
        (descriptor(7), "has no `name`"),
        ("text", "it is no object"),
        (descriptor("good"), "`good` is listed already"),
        ({"name": "x", "inputSchema": {}}, "`x` has no `description`"),
        ({"name": "x", "description": "d"}, "`x` has no `inputSchema`"),
        (descriptor("x", inputSchema=True), "`x` has no `inputSchema`"),
        (descriptor("x", outputSchema=[]), "`outputSchema` of `x` is no object"),
        (descriptor(TOKEN), "`***` is not of the form"),
    ],
)
def test_a_tool_that_breaks_the_rules_is_left_out(broken: Any, why: str, caplog: pytest.LogCaptureFixture) -> None:
    """A descriptor that breaks a rule is left out with a warning in one line, and the others are listed."""
    listing = listed([descriptor("good", description="first"), broken, descriptor("better", outputSchema={})])
    assert [tool.name for tool in listing.tools] == ["good", "better"]
    assert listing.tools[0].description == "first"
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert why in record.getMessage()
    assert "number 2" in record.getMessage()
    assert "\n" not in record.getMessage()


@pytest.mark.parametrize("body", [{"tools": []}, "tools", None])
def test_a_listing_that_is_no_array_fails(body: Any) -> None:
    """Anything but a JSON array is no list of tools."""
    with pytest.raises(ConnectionFailed, match="no JSON array"):
        listed(body)


def test_what_is_sent() -> None:
    """A call carries the bare arguments, the bearer and for whom it is, on the path of the base URL."""

    async def visit(connection: Connection) -> None:
        caller = Caller(tenant="acme", correlation_id="episode-7", user="u7")
        await connection.call(ToolCall(tool="find", arguments={"q": 1}, timeout_s=20.0, caller=caller))

    cookie = says(answer(b"1", "200 OK", "application/json", "Set-Cookie: a=b"))
    headers = {"X-Octopus-Tenant-Id": "of the workspace"}
    _, faulty = asyncio.run(visited(cookie, visit, headers=headers))
    probe, call = (head.decode().split("\r\n") for head in faulty.asked)
    assert probe[0] == "GET /api/health HTTP/1.1"
    assert call[0] == "POST /api/tool/find/call HTTP/1.1"
    for line in (f"Authorization: Bearer {TOKEN}", "Accept: application/json"):
        assert line in probe
        assert line in call
    # The caller's goes before what the workspace wrote, and there is one of each.
    assert [line for line in call if line.startswith("X-Octopus-")] == [
        "X-Octopus-Tenant-Id: acme",
        "X-Octopus-Correlation-Id: episode-7",
        "X-Octopus-User-Id: u7",
    ]
    assert "X-Octopus-Tenant-Id: of the workspace" in probe
    assert "Content-Type: application/json" in call
    assert "Content-Length: 8" in call


def test_a_redirect_is_not_followed() -> None:
    """Nothing is sent to where a redirect points: the server is asked once."""

    async def visit(connection: Connection) -> None:
        await connection.call(ToolCall(tool="find", arguments={}, timeout_s=20.0))

    async def scenario() -> tuple[Faulty, Faulty]:
        other = Faulty(says(answer(b"1")))
        async with await asyncio.start_server(other, "127.0.0.1", 0) as there:
            port = there.sockets[0].getsockname()[1]
            away = answer(b"", "307 X", None, f"Location: http://127.0.0.1:{port}/tool/find/call")
            _, faulty = await visited(says(away), visit)
        return faulty, other

    faulty, other = asyncio.run(scenario())
    assert len(faulty.asked) == 2  # health, and the call
    assert other.asked == []


def test_cookies_are_not_kept() -> None:
    """What a server sets as a cookie is not sent with the next request."""

    async def visit(connection: Connection) -> None:
        for _ in range(2):
            await connection.call(ToolCall(tool="find", arguments={}, timeout_s=20.0))

    cookie = answer(b"1", "200 OK", "application/json", "Set-Cookie: a=b", "Connection: close")
    _, faulty = asyncio.run(visited(says(cookie), visit))
    assert len(faulty.asked) == 3
    assert not any(b"cookie" in head.lower() for head in faulty.asked)


def test_the_servers_version_is_told() -> None:
    """The version that `/health` tells is part of the listing."""
    assert listed([]).server_info == {"version": "1.2.3"}
