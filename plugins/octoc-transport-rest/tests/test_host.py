import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from octoc import __version__
from octoc.plugin import PythonTool
from octoc_transport_rest.host import HostLimits, serve

TOKEN = "let-me-in-please"
OBJECT: dict[str, Any] = {"type": "object"}


async def _hang(arguments: Mapping[str, Any]) -> str:
    await asyncio.sleep(600)
    return ""


def tool(name: str, handler: Any) -> PythonTool:
    """Return a tool that takes any object."""
    return PythonTool(name=name, description=f"The tool {name}", input_schema=OBJECT, handler=handler)


TOOLS = (tool("echo", dict), tool("hang", _hang), tool("nan", lambda _: {"a": float("nan")}))


@pytest.mark.parametrize(
    "tools, more, expected",
    [
        ([tool("Upper", dict)], {}, "not of the form"),
        ([tool("a", dict), tool("a", dict)], {}, "two tools"),
        ([tool(f"t{n}", dict) for n in range(101)], {}, "101 tools"),
        ([], {"token": ""}, "visible ASCII"),
        ([], {"token": "a\r\nb"}, "visible ASCII"),
        ([], {"host": "0.0.0.0"}, "needs a token"),  # noqa: S104  # what is refused
    ],
)
def test_a_host_that_breaks_the_rules_does_not_start(
    tools: list[PythonTool], more: dict[str, Any], expected: str
) -> None:
    """Names, numbers of tools, tokens and addresses that break the protocol's rules are refused at the start."""
    with pytest.raises(ValueError, match=expected):
        asyncio.run(serve(tools, **more))


def conversation(sent: bytes, *, token: str | None = None, limits: HostLimits | None = None) -> bytes:
    """Return all that a host of TOOLS answers to `sent`, up to where it closes or the client has enough."""

    async def scenario() -> bytes:
        host = await serve(TOOLS, token=token, limits=limits)
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(host.url).port)
        try:
            writer.write(sent)
            if limits is None:
                writer.write_eof()
            return await asyncio.wait_for(reader.read(), 120)
        finally:
            writer.close()
            await writer.wait_closed()
            await host.close()
            await host.close()

    return asyncio.run(scenario())


HEALTHY = b'{"status":"ok","version":"%s"}' % __version__.encode()
HEAD = b"POST /tool/echo/call HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

REQUESTS: dict[str, tuple[bytes, bytes]] = {
    "health": (
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
        b'200 OK|{"status":"ok","version":"' + __version__.encode() + b'"}',
    ),
    "a call": (HEAD + b'Content-Length: 8\r\n\r\n{"a": 1}', b'200 OK|{"a":1}'),
    "chunks": (
        HEAD + b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n5;x=y\r\n": 1}\r\n0\r\nT: v\r\n\r\n',
        b'200 OK|{"a":1}',
    ),
    "a wait for 100": (HEAD + b'Expect: 100-continue\r\nContent-Length: 8\r\n\r\n{"a": 1}', b'100 Continue|{"a":1}'),
    "no path": (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", b"404|there is nothing at this path"),
    "no tool": (b"POST /tool/nope/call HTTP/1.1\r\nHost: x\r\n\r\n", b"404|there is no tool `nope`"),
    "wrong method": (b"POST /tools HTTP/1.1\r\nHost: x\r\n\r\n", b"405|Allow: GET"),
    "no object": (HEAD + b"Content-Length: 2\r\n\r\n[]", b"400|the body is not a JSON object"),
    "no JSON": (HEAD + b"Content-Length: 2\r\n\r\n{]", b"400|the body is not JSON:"),
    "NaN": (HEAD + b'Content-Length: 10\r\n\r\n{"a": NaN}', b"400|`NaN` is not JSON"),
    "a number that no float holds": (HEAD + b'Content-Length: 12\r\n\r\n{"a": 1e999}', b"400|a number is too large"),
    "an answer with NaN": (HEAD.replace(b"echo", b"nan") + b"Content-Length: 2\r\n\r\n{}", b"500|internal_error"),
    "deep JSON": (HEAD + b"Content-Length: 90000\r\n\r\n" + b"[" * 90000, b"400|nested too deeply"),
    "a form": (b"POST /tool/echo/call HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n\r\n", b"415|content type"),
    "a web page": (b"GET /tools HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n", b"403|web pages"),
    "no Host": (b"GET /tools HTTP/1.1\r\n\r\n", b"400|`Host` is missing"),
    "two Hosts": (b"GET /tools HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b"400|`host` stands twice"),
    "two lengths": (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", b"400|stands twice"),
    "length and chunks": (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", b"400|it has both"),
    "a sign in the length": (HEAD + b"Content-Length: +2\r\n\r\n{}", b"400|not a number"),
    "another coding": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n", b"501|transfer coding"),
    "a bad chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n", b"400|not a hexadecimal"),
    "a long chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n", b"400|longer than its size"),
    "a huge chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", b"413|longer than 4194304"),
    "a huge body": (HEAD + b"Content-Length: 4194305\r\n\r\n" + b"x" * 200_000, b"413|longer than 4194304"),
    "a long head": (b"GET /tools HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 20_000, b"431|longer than 16384"),
    "many headers": (b"GET /tools HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", b"431|more than 100 headers"),
    "a folded header": (b"GET /tools HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", b"400|`Name: value`"),
    "a space before the colon": (b"GET /tools HTTP/1.1\r\nHost : x\r\n\r\n", b"400|`Name: value`"),
    "a bare line feed": (b"GET /tools HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", b"400|`Name: value`"),
    "garbage": (b"\x16\x03\x01 hello\r\n\r\n", b"400|not a request of HTTP/1.1"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\n", b"400|not a request of HTTP/1.1"),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_the_host_answers_each_request_strictly(case: str) -> None:
    """What is a request of the protocol is answered; what is doubtful is refused with a status and a JSON message."""
    sent, expected = REQUESTS[case]
    status, text = expected.split(b"|")
    answer = conversation(sent)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert text in answer
    assert b"Content-Type: application/json" in answer


@pytest.mark.parametrize("sent", [b"", b"GET /tools HT", HEAD + b"Content-Length: 9\r\n\r\n{", HEAD + b"\r"])
def test_a_client_that_leaves_gets_no_answer(sent: bytes) -> None:
    """A request that ends in the middle is answered with nothing."""
    assert conversation(sent) == b""


def test_requests_follow_one_another_on_one_connection() -> None:
    """A second request on the same connection is answered after the first, and an error does not end it."""
    missing = b"POST /tool/nope/call HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = conversation(missing + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 ") == 2
    assert answer.endswith(HEALTHY)


@pytest.mark.parametrize(
    "header, status",
    [(b"", b"401"), (b"Authorization: Bearer no\r\n", b"401"), (f"Authorization: Bearer {TOKEN}\r\n".encode(), b"200")],
)
def test_a_token_is_asked_for(header: bytes, status: bytes) -> None:
    """With a token set, the tools are listed only for who sends it."""
    answer = conversation(b"GET /tools HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n", token=TOKEN)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert (b"WWW-Authenticate: Bearer" in answer) == (status == b"401")


def test_health_needs_no_token() -> None:
    """A monitor without the token learns whether the host is up."""
    answer = conversation(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", token=TOKEN)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("sent", [b"GET /to", HEAD + b"Content-Length: 9\r\n\r\n{"])
def test_a_client_that_dawdles_is_let_go(sent: bytes) -> None:
    """A head or a body that does not come in time ends the connection."""
    assert conversation(sent, limits=HostLimits(head_s=0.1, body_s=0.1)) == b""


def test_a_call_that_takes_too_long_is_ended() -> None:
    """A handler beyond the host's limit is cancelled, and the client told."""
    request = b"POST /tool/hang/call HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
    answer = conversation(request + b"Content-Length: 2\r\n\r\n{}", limits=HostLimits(call_s=0.1))
    assert answer.startswith(b"HTTP/1.1 504")
    assert b"`hang` did not end within 0.1 s" in answer


def test_a_crowd_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection beyond the limit is refused with a message, and those before it continue."""
    monkeypatch.setattr("octoc_transport_rest.host.MAX_CONNECTIONS", 1)
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    async def asked(port: int | None, sent: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    async def scenario() -> list[bytes]:
        host = await serve(TOOLS)
        port = urlsplit(host.url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(last.replace(b"Connection: close\r\n", b""))
        first = await reader.readuntil(b"}")
        refused = await asked(port, last)
        writer.write(last)
        second = await reader.read()
        writer.close()
        await writer.wait_closed()
        await host.close()
        return [first, refused, second]

    first, refused, second = asyncio.run(scenario())
    assert first.startswith(b"HTTP/1.1 200")
    assert refused.startswith(b"HTTP/1.1 503")
    assert second.startswith(b"HTTP/1.1 200")
