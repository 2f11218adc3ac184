"""What a server is sent, and what is not: real sockets on the loopback."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from octoc.plugin import Caller, Connection, ToolCall, ToolFailure, ToolResult
from octoc.testing import REST_TOKEN, RawRestServer, http_response, send_and_close, visit_rest_server
from octoc_transport_rest import octoc_make_transport


@pytest.mark.parametrize(
    "call, kind",
    [
        (ToolCall(tool="No-Such", arguments={}, timeout_s=1.0), "not_found"),
        (ToolCall(tool="find", arguments={"x": {1, 2}}, timeout_s=1.0), "bad_request"),
        (ToolCall(tool="find", arguments={}, timeout_s=1.0, caller=Caller(tenant="a\r\nX: y")), "bad_request"),
    ],
    ids=["a name", "arguments", "a tenant"],
)
def test_what_was_never_sent_says_so(call: ToolCall, kind: str, visit: Callable[..., Any]) -> None:
    """A call that is refused before anything goes out may safely be repeated, and the server never sees it."""

    async def called(connection: Connection) -> ToolResult | ToolFailure:
        return await connection.call(call)

    outcome, faulty = visit(send_and_close(http_response(b"1")), called)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.sent) == (kind, False)
    assert not any(head.startswith(b"POST") for head in faulty.requests)


def test_what_is_sent(visit: Callable[..., Any]) -> None:
    """A call carries the bare arguments, the bearer and the caller, on the path of the base URL."""

    async def called(connection: Connection) -> None:
        caller = Caller(tenant="acme", correlation_id="episode-7", user="u7")
        await connection.call(ToolCall(tool="find", arguments={"q": 1}, timeout_s=20.0, caller=caller))

    cookie = send_and_close(http_response(b"1", "200 OK", "application/json", "Set-Cookie: a=b"))
    headers = {"X-Octopus-Tenant-Id": "from the workspace"}
    _, faulty = visit(cookie, called, headers=headers)
    probe, call = (head.decode().split("\r\n") for head in faulty.requests)
    assert probe[0] == "GET /api/health HTTP/1.1"
    assert call[0] == "POST /api/tool/find/call HTTP/1.1"
    for line in (f"Authorization: Bearer {REST_TOKEN}", "Accept: application/json"):
        assert line in probe
        assert line in call
    # The caller's goes before what the workspace wrote, and there is one of each.
    assert [line for line in call if line.startswith("X-Octopus-")] == [
        "X-Octopus-Tenant-Id: acme",
        "X-Octopus-Correlation-Id: episode-7",
        "X-Octopus-User-Id: u7",
    ]
    assert "X-Octopus-Tenant-Id: from the workspace" in probe
    assert "Content-Type: application/json" in call
    assert "Content-Length: 8" in call


def test_a_redirect_is_not_followed() -> None:
    """Nothing is sent to where a redirect points: the server is asked once."""

    async def called(connection: Connection) -> None:
        await connection.call(ToolCall(tool="find", arguments={}, timeout_s=20.0))

    async def scenario() -> tuple[RawRestServer, RawRestServer]:
        other = RawRestServer(send_and_close(http_response(b"1")))
        async with await asyncio.start_server(other, "127.0.0.1", 0) as there:
            port = there.sockets[0].getsockname()[1]
            away = http_response(b"", "307 X", None, f"Location: http://127.0.0.1:{port}/tool/find/call")
            transport = octoc_make_transport("rest")
            assert transport is not None
            _, faulty = await visit_rest_server(transport, send_and_close(away), called)
        return faulty, other

    faulty, other = asyncio.run(scenario())
    assert len(faulty.requests) == 2  # health, and the call
    assert other.requests == []


def test_cookies_are_not_kept(visit: Callable[..., Any]) -> None:
    """What a server sets as a cookie is not sent with the next request."""

    async def called(connection: Connection) -> None:
        for _ in range(2):
            await connection.call(ToolCall(tool="find", arguments={}, timeout_s=20.0))

    cookie = http_response(b"1", "200 OK", "application/json", "Set-Cookie: a=b", "Connection: close")
    _, faulty = visit(send_and_close(cookie), called)
    assert len(faulty.requests) == 3
    assert not any(b"cookie" in head.lower() for head in faulty.requests)
