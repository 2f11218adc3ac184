"""Whether a server is reached at all, and by which TLS: real sockets on the loopback."""

import asyncio
import contextlib
import ssl
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import ConnectFailedError, Connection, ServerTarget, ToolCall, ToolFailure, ToolResult
from octoc_transport_rest import octoc_make_transport

ONE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1"
CALL = ToolCall(tool="find", arguments={}, timeout_s=20.0)

Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def saying(answer: bytes) -> Converse:
    """Return a server's part that answers one request a connection, whatever it asks, and closes."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"POST"):
            await reader.readexactly(len(b"{}"))
        writer.write(answer)
        writer.close()

    return converse


async def connected(port: int, scheme: str = "http", timeout_s: float = 20.0) -> Connection:
    """Return a connection to a server on this machine. Raises: ConnectFailedError."""
    transport = octoc_make_transport("rest")
    assert transport is not None
    url = f"{scheme}://127.0.0.1:{port}"
    return await transport.connect(ServerTarget(name="orders", transport="rest", url=url, timeout_s=timeout_s))


async def called_once(converse: Converse, tls: ssl.SSLContext | None = None, scheme: str = "http") -> Any:
    """Return the outcome of one call to a server that answers by `converse`. Raises: ConnectFailedError."""
    async with await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls) as server:
        connection = await connected(server.sockets[0].getsockname()[1], scheme)
        try:
            return await connection.call(CALL)
        finally:
            await connection.close()


def test_two_headers_of_one_name_are_refused() -> None:
    """Which of two credentials a server would read is not left to it; nothing is sent, and no value shows."""
    transport = octoc_make_transport("rest")
    assert transport is not None
    headers = {"Authorization": "Bearer one-value", "authorization": "Bearer two-value"}
    target = ServerTarget(name="orders", transport="rest", url="http://127.0.0.1:1", headers=headers)
    with pytest.raises(ConnectFailedError, match="`orders` has two headers of one name, `Authorization`") as caught:
        asyncio.run(transport.connect(target))
    assert caught.value.permanent
    assert "value" not in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\ndown", b"no HTTP\r\n\r\n", ONE])
def test_health_is_never_fatal(answer: bytes) -> None:
    """A server whose health answers anything at all, or hangs up, is connected."""

    async def scenario() -> bool:
        async with await asyncio.start_server(saying(answer), "127.0.0.1", 0) as server:
            connection = await connected(server.sockets[0].getsockname()[1])
            alive = connection.alive
            await connection.close()
            return alive

    assert asyncio.run(scenario())


def test_a_health_of_503_is_a_failed_connection() -> None:
    """A server that reports by 503 that it is down is not connected, and its message and time to wait are passed on."""
    body = b'{"error":"maintenance","message":"back at noon","retry_after":30}'
    head = b"HTTP/1.1 503 X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)

    async def scenario() -> None:
        async with await asyncio.start_server(saying(head + body), "127.0.0.1", 0) as server:
            await connected(server.sockets[0].getsockname()[1])

    with pytest.raises(ConnectFailedError) as caught:
        asyncio.run(scenario())
    assert str(caught.value) == "`orders` answered `/health` with HTTP 503: back at noon"
    assert (caught.value.kind, caught.value.retry_after_s, caught.value.permanent) == ("connect_failed", 30.0, False)


def test_a_health_that_hangs_is_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes the request for its health and never answers is connected all the same."""
    monkeypatch.setattr("octoc_transport_rest.connection.HEALTH_S", 0.2)

    async def scenario() -> bool:
        left = asyncio.Event()

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            left.set()

        async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
            connection = await connected(server.sockets[0].getsockname()[1])
            alive = connection.alive
            await connection.close()
            await left.wait()
            return alive

    assert asyncio.run(scenario())


def test_a_handshake_that_hangs_is_a_failed_connection() -> None:
    """A server that never shakes hands is given up after the target's time-out, and its socket is closed."""

    async def scenario() -> None:
        left = asyncio.Event()

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(1000):
                pass
            writer.close()
            left.set()

        async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
            with pytest.raises(ConnectFailedError, match=r"did not answer within 0\.3 s"):
                await connected(server.sockets[0].getsockname()[1], "https", timeout_s=0.3)
            await left.wait()

    asyncio.run(scenario())


def test_a_refused_connection_says_so() -> None:
    """A port where nothing listens is named with its reason, and the path, which may hold a credential, is not."""
    transport = octoc_make_transport("rest")
    assert transport is not None
    target = ServerTarget(name="orders", transport="rest", url="http://127.0.0.1:1/secret-path")
    with pytest.raises(ConnectFailedError) as caught:
        asyncio.run(transport.connect(target))
    assert str(caught.value) == "`http://127.0.0.1:1` could not be reached: connection refused"


def test_a_server_that_went_away_is_a_value() -> None:
    """A call to a server that stopped listening is `connect_failed`, and is answered when the server is back."""

    async def scenario() -> None:
        async with await asyncio.start_server(saying(ONE), "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            connection = await connected(port)
            assert isinstance(await connection.call(CALL), ToolResult)
        gone = await connection.call(CALL)
        assert isinstance(gone, ToolFailure)
        assert gone.kind == "connect_failed"
        assert gone.message == f"`http://127.0.0.1:{port}` could not be reached: connection refused"
        async with await asyncio.start_server(saying(ONE), "127.0.0.1", port):
            assert isinstance(await connection.call(CALL), ToolResult)
        await connection.close()

    asyncio.run(scenario())


def test_closing_ends_a_call_under_way() -> None:
    """A call that waits when the connection is closed is `connection_lost` at once."""

    async def scenario() -> Any:
        waiting = asyncio.Event()

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET"):
                writer.write(ONE)
            else:
                waiting.set()
                await reader.read()
                await reader.read()
            writer.close()

        async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
            connection = await connected(server.sockets[0].getsockname()[1])
            call = asyncio.create_task(connection.call(ToolCall(tool="find", arguments={}, timeout_s=600.0)))
            await waiting.wait()
            await connection.close()
            return await call

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.message) == ("connection_lost", "the connection to `orders` is closed")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    key, alone, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subject = ["-subj", "/CN=octoc test", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", *made, *subject, "-keyout", str(key), "-out", str(alone)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed, and makes the certificate")
    both.write_bytes(key.read_bytes() + alone.read_bytes())
    return both


def tls_call(certificate: Path, newest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> Any:
    """Return the outcome of one call to a server with `certificate`. Raises: ConnectFailedError."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.maximum_version = newest
    return asyncio.run(called_once(saying(ONE), tls, "https"))


def test_a_certificate_that_nobody_knows_is_refused(certificate: Path) -> None:
    """A certificate that signs itself is not trusted, and the reason says so."""
    with pytest.raises(ConnectFailedError, match=r"certificate is not trusted: self.signed certificate"):
        tls_call(certificate)


def test_a_trusted_certificate_is_taken(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate in the file that the variable `SSL_CERT_FILE` names is trusted, on this machine too."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert tls_call(certificate).text == "1"


def test_old_tls_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS 1.1 is refused for each server."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        pytest.warns(DeprecationWarning, match=r"TLSv1_1"),
        pytest.raises(ConnectFailedError, match="TLS handshake failed"),
    ):
        tls_call(certificate, ssl.TLSVersion.TLSv1_1)


def test_plain_http_behind_https_is_refused() -> None:
    """Plain HTTP where TLS was expected is a failed handshake."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    with pytest.raises(ConnectFailedError, match="TLS handshake failed"):
        asyncio.run(called_once(converse, scheme="https"))


def test_a_connection_that_was_idle_nearly_as_long_as_servers_keep_one_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers like Node and uvicorn end it after 5 s: a call sent at 4.5 would be lost. At 2.5 it is kept."""
    real, ahead = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: real() + ahead)
    connections: list[int] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        idle_since = real() + ahead
        connections.append(0)
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head.startswith(b"POST"):
                    await reader.readexactly(len(b"{}"))
                if real() + ahead > idle_since + 4.5:
                    return
                connections[-1] += 1
                writer.write(ONE.replace(b"Connection: close\r\n", b""))
                idle_since = real() + ahead

    async def scenario() -> None:
        nonlocal ahead
        async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
            connection = await connected(server.sockets[0].getsockname()[1])
            try:
                for idle_s in (0.0, 2.5, 4.5):
                    ahead += idle_s
                    outcome = await connection.call(CALL)
                    assert isinstance(outcome, ToolResult), outcome
            finally:
                await connection.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))
    assert connections == [3, 1]
