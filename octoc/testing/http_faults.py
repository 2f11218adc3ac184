"""The faults of `faulty_http`: one function each, under the name of the fault."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from octoc.testing.faulty_http_server import FaultyHttpServer

HTML = b"<html><body><h1>Internal Server Error</h1>" + b"<p>stack</p>" * 500 + b"</body></html>"
JSON = "application/json"
EVENTS = "text/event-stream"
BOMB_BYTES = 1024 * 1024 * 1024
_MIB = 1024 * 1024


@attrs.frozen(kw_only=True)
class ReceivedRequest:
    """One request as the server received it; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@attrs.define(eq=False)
class HttpFault:
    """The arguments of a fault: the request, the message in it, and where to write."""

    server: FaultyHttpServer
    request: ReceivedRequest
    message: Mapping[str, Any]
    writer: asyncio.StreamWriter
    closing: bool = False
    stream: asyncio.StreamWriter | None = None
    """The event stream of the era `sse`, which carries the answers."""

    async def send(self, *pieces: bytes) -> None:
        """Send the pieces, each when the client has room for it."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def respond(self, status: str, body: bytes = b"", kind: str = JSON, **headers: str) -> None:
        """Send a whole response."""
        headers |= {"Connection": "close"} if self.closing else {}
        await self.send(head(status, kind, content_length=str(len(body)), **headers) + body)

    def answer(self, text: str = "done") -> bytes:
        """Return what a healthy server would answer, in its protocol."""
        if self.server.era == "rest":
            return json.dumps({"text": text}).encode()
        result = {"content": [{"type": "text", "text": text}], "resultType": "complete"}
        return json.dumps({"jsonrpc": "2.0", "id": self.message.get("id"), "result": result}).encode()

    async def say(self, body: bytes, **headers: str) -> None:
        """Answer with `body`: as a response, or where the era has it so as an event on the stream."""
        if self.stream is None and self.server.as_events:
            await self.respond("200 OK", b"event: message\ndata: " + body + b"\n\n", EVENTS, **headers)
        elif self.stream is None:
            await self.respond("200 OK", body, **headers)
        else:
            await self.respond("202 Accepted", b"Accepted", "text/plain")
            self.stream.write(b"event: message\ndata: " + body + b"\n\n")
            await self.stream.drain()

    async def endlessly(self, before: bytes, again: bytes, pause_s: float = 0.0) -> None:
        """Send `before`, and then `again` until the client goes away: at once, or with a pause before each."""
        writer = self.writer
        if self.stream is not None and before.startswith(b"event"):
            await self.respond("202 Accepted", b"Accepted", "text/plain")
            writer = self.stream
        writer.write(before)
        while not writer.is_closing():
            await asyncio.sleep(pause_s)
            writer.write(again)
            await writer.drain()


def head(status: str, kind: str = JSON, **headers: str) -> bytes:
    """Return a response's first line and headers."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else [])]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _in_a_minute() -> str:
    return formatdate(time.time() + 60, usegmt=True)


Act = Callable[[HttpFault], Awaitable[None]]
HTTP_FAULTS: dict[str, Act] = {}
"""Every fault by name; each is a tool of `faulty_http`."""


def fault(act: Act) -> Act:
    """Register a fault under its function's name."""
    HTTP_FAULTS[act.__name__] = act
    return act


@fault
async def status_401(at: HttpFault) -> None:
    """The credential is refused."""
    await at.respond("401 Unauthorized", b'{"error":"invalid_token"}', WWW_Authenticate="Bearer")


@fault
async def status_403(at: HttpFault) -> None:
    """The credential is not enough."""
    await at.respond("403 Forbidden", HTML, "text/html")


@fault
async def session_gone(at: HttpFault) -> None:
    """The server forgets every session; asked again it answers."""
    if at.server.forgetful:
        at.server.forgetful = False
        at.server.sessions.clear()
        await at.respond("404 Not Found", b"no such session", "text/plain")
    else:
        await at.say(at.answer())


@fault
async def status_429(at: HttpFault) -> None:
    """Too many requests, with seconds to wait."""
    await at.respond("429 Too Many Requests", b"", "", Retry_After="7")


@fault
async def status_503(at: HttpFault) -> None:
    """Not available, until a date that is a minute away."""
    await at.respond("503 Service Unavailable", HTML, "text/html", Retry_After=_in_a_minute())


@fault
async def redirect_away(at: HttpFault) -> None:
    """A redirect to another origin."""
    await at.respond("307 Temporary Redirect", b"", "", Location=f"{at.server.elsewhere}/mcp?state=of-the-server")


@fault
async def redirect_loop(at: HttpFault) -> None:
    """A redirect to itself."""
    await at.respond("307 Temporary Redirect", b"", "", Location=at.request.path)


@fault
async def status_500(at: HttpFault) -> None:
    """A failure with a page of HTML."""
    await at.respond("500 Internal Server Error", HTML, "text/html")


@fault
async def echo_secret(at: HttpFault) -> None:
    """A failure that quotes the credential."""
    said = {"message": f"bad header {at.request.headers.get('authorization', '')}"}
    await at.respond("500 Internal Server Error", json.dumps(said).encode())


@fault
async def wrong_type(at: HttpFault) -> None:
    """A page of HTML, as if it were the answer."""
    await at.respond("200 OK", HTML, "text/html")


@fault
async def no_answer(at: HttpFault) -> None:
    """The request is accepted, and nothing follows."""
    await at.respond("202 Accepted")


@fault
async def json_cut(at: HttpFault) -> None:
    """JSON that ends in the middle, in a response that is whole."""
    await at.say(at.answer("x" * 1000)[:-200])


@fault
async def body_cut(at: HttpFault) -> None:
    """A response that ends before its length."""
    await at.send(head("200 OK", content_length="100000") + at.answer("x" * 1000)[:-200])


@fault
async def sse_cut(at: HttpFault) -> None:
    """A stream of events that ends in the middle of one."""
    if at.stream is not None:
        at.stream.write(b"event: message\ndata: " + at.answer("x" * 1000)[:-200])
        at.stream.close()
        await at.respond("202 Accepted")
    else:
        await at.send(head("200 OK", EVENTS) + b"event: message\ndata: " + at.answer("x" * 1000)[:-200])


@fault
async def reset(at: HttpFault) -> None:
    """The connection is closed without an answer."""
    at.writer.close()


@fault
async def slow_headers(at: HttpFault) -> None:
    """Headers, one by one, for ever."""
    await at.endlessly(b"HTTP/1.1 200 OK\r\n", b"X-More: x\r\n", 0.05)


@fault
async def slow_body(at: HttpFault) -> None:
    """A body, byte by byte, for ever."""
    await at.endlessly(head("200 OK") + b'{"jsonrpc": "2.0", "id": 1,', b" ", 0.05)


@fault
async def silence(_: HttpFault) -> None:
    """Nothing at all."""
    await asyncio.Event().wait()


@fault
async def no_length(at: HttpFault) -> None:
    """A healthy answer that ends where the connection does."""
    if at.stream is not None:
        await at.say(at.answer())
    else:
        await at.send(head("200 OK") + at.answer())


@fault
async def header_flood(at: HttpFault) -> None:
    """Headers as fast as they are read."""
    await at.endlessly(b"HTTP/1.1 200 OK\r\n", b"X-Flood: " + b"x" * 8000 + b"\r\n")


@fault
async def gzip_bomb(at: HttpFault) -> None:
    """1 GiB of spaces, in 1 MiB."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    start = squeeze.compress(b'{"jsonrpc": "2.0",') + squeeze.flush(zlib.Z_FULL_FLUSH)
    block = squeeze.compress(b" " * _MIB) + squeeze.flush(zlib.Z_FULL_FLUSH)
    await at.send(head("200 OK", content_encoding="gzip"), start)
    for _ in range(BOMB_BYTES // _MIB):
        if at.writer.is_closing():
            return
        await at.send(block)


@fault
async def unknown_encoding(at: HttpFault) -> None:
    """An unrequested content encoding."""
    await at.respond("200 OK", b"\x1b\x00\x00", content_encoding="br")


@fault
async def endless_body(at: HttpFault) -> None:
    """A body as fast as it is read."""
    await at.endlessly(head("200 OK") + b'{"jsonrpc": "', b"x" * _MIB)


@fault
async def endless_event(at: HttpFault) -> None:
    """An event as fast as it is read."""
    start = b'event: message\ndata: {"jsonrpc": "2.0", "id": ' + json.dumps(at.message.get("id")).encode() + b', "'
    await at.endlessly(start if at.stream is not None else head("200 OK", EVENTS) + start, b"x" * _MIB)


@fault
async def bad_utf8(at: HttpFault) -> None:
    """An answer with a byte of Latin-1."""
    await at.say(at.answer("caf-").replace(b"caf-", b"caf\xe9"))


@fault
async def half_character(at: HttpFault) -> None:
    """An answer with half of a character, as JSON escapes it."""
    await at.say(at.answer("half \ud83d of \U0001f600"))


@fault
async def deep_json(at: HttpFault) -> None:
    """An answer that is nested 100,000 deep."""
    await at.say(at.answer("deep").replace(b'"deep"', b"[" * 100_000 + b"]" * 100_000))


@fault
async def many_elements(at: HttpFault) -> None:
    """An answer of 2,400,000 JSON elements."""
    await at.say(at.answer("many").replace(b'"many"', b"[" + b"[]," * 1_200_000 + b"[]]"))


@fault
async def wrong_id(at: HttpFault) -> None:
    """The answer to another request."""
    await at.respond("200 OK", at.answer().replace(b'"id": ', b'"id": 9999'))


@fault
async def foreign_event(at: HttpFault) -> None:
    """A stream of events with the answer to another request, and no other."""
    event = b"event: message\ndata: " + at.answer("not yours").replace(b'"id": ', b'"id": 9999') + b"\n\n"
    if at.stream is not None:
        await at.respond("202 Accepted", b"Accepted", "text/plain")
        at.stream.write(event)
        await at.stream.drain()
    else:
        await at.send(head("200 OK", EVENTS) + event)


@fault
async def six_redirects(at: HttpFault) -> None:
    """Redirects on the same origin: six, and then the answer."""
    path, _, hops = at.request.path.partition("?hop=")
    if at.stream is not None:  # whose address names the session
        await at.respond("307 Temporary Redirect", location=at.request.path)
    elif int(hops or 0) < 6:  # one more than is followed
        await at.respond("307 Temporary Redirect", location=f"{path}?hop={int(hops or 0) + 1}")
    else:
        await at.say(at.answer())


@fault
async def long_wait(at: HttpFault) -> None:
    """A time to wait of centuries."""
    await at.respond("503 Service Unavailable", retry_after="9" * 400)


@fault
async def not_a_number(at: HttpFault) -> None:
    """An answer with a number that JSON does not have."""
    await at.say(at.answer("number").replace(b'"number"', b"NaN"))


@fault
async def not_http(at: HttpFault) -> None:
    """Another protocol."""
    await at.send(b"SSH-2.0-OpenSSH_9.6\r\n" + b"x" * 1000 + b"\r\n\r\n")
