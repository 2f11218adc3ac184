"""The parts of HTTP that have laws of their own: events out of bytes, bodies within bounds, times to wait."""

import asyncio
import contextlib
import gzip
import time
import zlib
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc_transport_mcp import octoc_make_transport
from octoc_transport_mcp.http import check_url
from octoc_transport_mcp.http_bounds import BodyTooLargeError, BoundedTransport, BrokenEncodingError, proxy_of
from octoc_transport_mcp.http_events import DroppedEvent, Event, EventCutter, parse_event

LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.lists(
    st.sampled_from([b"data: a", b"data: b c", b"event: message", b"id: 7", b": note"]), min_size=1, max_size=4
)


@given(st.lists(LINES, max_size=5), LINE_ENDS, st.data())
def test_events_are_the_same_however_the_stream_is_cut(
    events: list[list[bytes]], end: bytes, data: st.DataObject
) -> None:
    """Pieces of any length, and any of the three line ends, give the same events."""
    stream = b"".join(end.join(lines) + end + end for lines in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    cutter = EventCutter(1000)
    found: list[bytes | DroppedEvent] = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += cutter.feed(stream[start:stop])
    found += cutter.feed(b"\n")  # a carriage return may be half of a line end
    assert [event.strip().split(b"\n") for event in found if isinstance(event, bytes)] == events


@given(st.integers(1, 400), st.integers(101, 2000), st.integers(1, 300))
def test_an_event_over_the_limit_is_told_once_and_passed_over(before: int, length: int, piece: int) -> None:
    """Only the head of a long event is kept, once; events before and after it come through."""
    stream = b"data: 1\n\n" * before + b"data: " + b"x" * length + b"\n\n" + b"data: 2\n\n"
    cutter = EventCutter(100)
    found = [event for at in range(0, len(stream), piece) for event in cutter.feed(stream[at : at + piece])]
    *first, dropped, last = found
    assert first == [b"data: 1\n\n"] * before
    assert isinstance(dropped, DroppedEvent)
    assert dropped.head.strip().startswith(b"data: x")
    assert last == b"data: 2\n\n"


def test_a_wild_time_to_reconnect_is_left_out() -> None:
    """A number of which clients make an overflow does not reach them; a sane one does."""
    wild = b"retry: " + b"9" * 4000 + b"\ndata: x\n\n"
    assert EventCutter(10_000).feed(wild) == [b"data: x\n\n"]
    assert EventCutter(10_000).feed(b"retry: 1500\ndata: x\n\n") == [b"retry: 1500\ndata: x\n\n"]


def test_an_event_is_its_name_its_data_and_whether_it_can_be_resumed() -> None:
    """Lines of data are joined, a comment is nothing, an id makes it resumable."""
    assert parse_event(b"event: endpoint\ndata: /a\ndata:b\n: c\n\n") == Event("endpoint", b"/a\nb", resumable=False)
    assert parse_event(b"id: 1\ndata: x\n\n") == Event("message", b"x", resumable=True)


class Pieces(httpx2.AsyncByteStream):
    """A body that comes in pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


class Answering(httpx2.AsyncBaseTransport):
    """A network that always answers the same."""

    def __init__(self, body: bytes, **headers: str) -> None:
        self._body = body
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        half = len(self._body) // 2
        return httpx2.Response(200, headers=self._headers, stream=Pieces(self._body[:half], self._body[half:]))


def read(network: httpx2.AsyncBaseTransport, limit: int, **headers: str) -> bytes:
    """Return what a client within the limit reads of an answer."""

    async def run() -> bytes:
        transport = BoundedTransport(limit)
        transport._routes[False, None] = network  # type: ignore[assignment]
        async with httpx2.AsyncClient(transport=transport, headers=headers) as client:
            return (await client.get("http://127.0.0.1/")).content

    return asyncio.run(run())


@given(st.binary(max_size=300), st.sampled_from(["", "identity", "gzip", "x-gzip", "deflate"]), st.integers(0, 310))
def test_a_body_is_whole_or_refused(body: bytes, encoding: str, limit: int) -> None:
    """A body of at most the limit comes through as it was, compressed or not; a longer one is refused."""
    made = gzip.compress(body) if "gzip" in encoding else zlib.compress(body) if encoding == "deflate" else body
    network = Answering(made, **({"content_encoding": encoding} if encoding else {}))
    if len(body) <= limit:
        assert read(network, limit) == body
    else:
        with pytest.raises(BodyTooLargeError, match=f"more than {limit} bytes"):
            read(network, limit)


@pytest.mark.parametrize(
    "made",
    [gzip.compress(b"x" * 5000)[:-9], gzip.compress(b"x")[:5] + b"\xff" * 20],
    ids=["cut-short", "garbled"],  # not the bytes, which name the second they were made in
)
def test_a_broken_compressed_body_is_refused(made: bytes) -> None:
    """A truncated or invalid compressed body is an error in a few words."""
    with pytest.raises(BrokenEncodingError, match="a compressed body that"):
        read(Answering(made, content_encoding="gzip"), 10_000)


def test_only_a_stream_that_was_asked_for_is_not_limited() -> None:
    """A body that says that it is a stream of events is limited like any other where none was asked for."""
    network = Answering(b"data: x\n\n" * 100, content_type="text/event-stream")
    assert len(read(network, 10, accept="text/event-stream")) == 900
    with pytest.raises(BodyTooLargeError):
        read(network, 10, accept="application/json")


def test_a_connection_that_was_idle_nearly_as_long_as_servers_keep_one_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers like uvicorn and Node end it after 5 s: a request sent at 4.5 would meet the end. At 2.5 it is kept."""
    real, ahead = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: real() + ahead)
    connections: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        idle_since = real() + ahead
        connections.append(0)
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n") and real() + ahead < idle_since + 4.5:
                connections[-1] += 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                idle_since = real() + ahead

    async def run() -> None:
        nonlocal ahead
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
            async with httpx2.AsyncClient(transport=BoundedTransport(100)) as client:
                for idle_s in (0.0, 2.5, 4.5):
                    ahead += idle_s
                    assert (await client.get(url)).content == b"{}"

    asyncio.run(run())
    assert connections == [2, 1]


@pytest.mark.parametrize("url", ["ftp://tools.example/x", "tools.example", "http://", "http://[::1", "http://a:99999/"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """Anything but an http or https address with a host is refused permanently, and not quoted in the message."""
    with pytest.raises(ConnectFailedError, match=r"the `url` of `web` does not start with") as caught:
        check_url(ServerTarget(name="web", transport="http", url=url))
    assert caught.value.permanent


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_two_headers_of_one_name_are_refused(kind: str) -> None:
    """Which of two credentials a server would read is not left to it; nothing is sent, and no value shows."""
    transport = octoc_make_transport(kind)
    assert transport is not None
    headers = {"Authorization": "Bearer one-value", "authorization": "Bearer two-value"}
    target = ServerTarget(name="web", transport=kind, url="http://127.0.0.1:1", headers=headers)
    with pytest.raises(ConnectFailedError, match="`web` has two headers of one name, `Authorization`") as caught:
        asyncio.run(transport.connect(target))
    assert caught.value.permanent
    assert "value" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_production_allows_plain_http_on_this_machine(host: str) -> None:
    """The loopback needs no TLS, in production either."""
    check_url(ServerTarget(name="web", transport="http", url=f"http://{host}:8000/mcp", production=True))


def test_a_proxy_is_not_handed_what_is_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's proxy is for other hosts, but those that it names as excepted."""
    monkeypatch.setenv("https_proxy", "proxy.example:3128")
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_of(httpx2.URL("https://tools.example/mcp")) == "http://proxy.example:3128"
    assert proxy_of(httpx2.URL("https://inside.example/mcp")) is None
    assert proxy_of(httpx2.URL("http://127.0.0.1:8000/mcp")) is None
    assert proxy_of(httpx2.URL("http://[::1]:8000/mcp")) is None
