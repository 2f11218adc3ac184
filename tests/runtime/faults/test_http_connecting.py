"""What a call gets when no connection to an HTTP server comes about, or when it is lost: real runtime, real sockets."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import Settings
from octoc.choices import Mode
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.testing import HTTP_FAULTS, Era, faulty_http, self_signed

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

SECRET = "s3cr3t-t0ken-of-the-table"
PATIENT_S = 60.0
"""The time limit where none is what a test is about."""
BUSY_S = 30.0
"""What a busy machine may add to a time limit."""
MCP_ERAS: tuple[Era, ...] = ("modern", "sse")
ERAS: tuple[Era, ...] = ("modern", "legacy", "sse", "rest")
# What each fault comes to when it answers every request: a failure's kind, and words that the model reads.
EVERYWHERE = {
    "status_401": ("unauthorized", "HTTP 401: look at what `TOKEN` holds"),
    "status_403": ("unauthorized", "HTTP 403"),
    "status_429": ("connect_failed", "(HTTP 429), try again in 7 s"),
    "status_503": ("connect_failed", "(HTTP 503), try again in "),
    "redirect_away": ("protocol", "HTTP 307, a redirect to `http://127.0.0.1:"),
    "status_500": ("protocol", "HTTP 500"),
    "wrong_type": ("protocol", "HTTP 200 with `text/html`"),
    "header_flood": ("too_large", "headers that are too long"),
    "reset": ("connect_failed", "closed the connection before its answer"),
    "silence": ("timeout", "within 1 s"),
    "slow_headers": ("timeout", "within 1 s"),
    "not_http": ("protocol", "does not speak HTTP/1.1"),
}


def runtime_of(fleet: Fleet, url: str, era: Era, *, mode: Mode = "development", **fields: Any) -> Runtime:
    """Open a runtime on one server at a URL, with the real transports."""
    transport = era if era in {"sse", "rest"} else "http"
    options = {
        "transport": transport,
        "url": url,
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "timeout_s": PATIENT_S,
        "retry": "never",
        **fields,
    }
    fleet.server("bad", ["echo", "wait", *HTTP_FAULTS], **options)
    fleet.settings = Settings(breaker_failures=0, mode=mode)
    fleet.agent(proxy=True)
    return Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp", "transport-rest"], {"TOKEN": SECRET}))


async def echo(runtime: Runtime) -> ToolResult | ToolFailure:
    """Call the server's `echo`, and see that a failure is one that a model may read."""
    arguments = {"tool_name": "bad/echo", "arguments": {"text": "hello"}}
    async with asyncio.timeout(PATIENT_S + BUSY_S):
        outcome = await runtime.session().call("call_mcp_tool", arguments)
    assert SECRET not in str(attrs.asdict(outcome))
    if isinstance(outcome, ToolFailure):
        assert "\n" not in outcome.message
        assert "<" not in outcome.message
    return outcome


async def failure_at(runtime: Runtime) -> ToolFailure:
    """Return what a call of a server that cannot be connected comes to."""
    outcome = await echo(runtime)
    assert isinstance(outcome, ToolFailure), outcome
    return outcome


@pytest.mark.parametrize("era", MCP_ERAS)
@pytest.mark.parametrize("fault", EVERYWHERE)
def test_a_server_that_never_answers_well_is_not_connected(fleet: Fleet, era: Era, fault: str) -> None:
    """Each refusal of a connection is a failure of its own kind, in time, and leaves no socket and no task."""
    kind, says = EVERYWHERE[fault]

    async def play() -> None:
        async with faulty_http(era) as trap:
            async with faulty_http(era, everywhere=fault, elsewhere=trap.url.rpartition("/")[0]) as bad:
                timeout_s = 1.0 if kind == "timeout" else PATIENT_S
                async with runtime_of(fleet, bad.url, era, timeout_s=timeout_s) as runtime:
                    outcome = await failure_at(runtime)
                    assert (outcome.kind, outcome.sent) == (kind, False), outcome
                    assert says in outcome.text
                    assert (outcome.retry_after_s is not None) == (fault in {"status_429", "status_503"})
                for _ in range(3000):
                    if bad.open == 0:
                        break
                    await asyncio.sleep(0.01)
                assert bad.open == 0
            assert trap.requests == []
            for _ in range(3000):
                if len(asyncio.all_tasks()) == 1:
                    break
                await asyncio.sleep(0.01)
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(play())


@pytest.mark.parametrize("era", ERAS)
def test_nobody_listens(fleet: Fleet, era: Era) -> None:
    """A refused connection is named as such."""

    async def play() -> None:
        async with runtime_of(fleet, "http://127.0.0.1:1/mcp", era) as runtime:
            outcome = await failure_at(runtime)
            assert outcome.kind == "connect_failed"
            assert "`http://127.0.0.1:1` could not be reached: connection refused" in outcome.text

    asyncio.run(play())


@pytest.fixture
def certified(tmp_path: Path) -> ssl.SSLContext:
    """A server's TLS with a certificate that it has signed itself, in `cert.pem`."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the program `openssl` to make a certificate")
    return self_signed(tmp_path)


@pytest.mark.parametrize("era", ERAS)
def test_a_self_signed_certificate_is_refused(fleet: Fleet, certified: ssl.SSLContext, era: Era) -> None:
    """A server whose certificate is not trusted gets no request, and the failure has the reason."""

    async def play() -> None:
        async with faulty_http(era, tls=certified) as server:
            async with runtime_of(fleet, server.url, era) as runtime:
                outcome = await failure_at(runtime)
                assert outcome.kind == "connect_failed"
                assert "could not be reached: its certificate is not trusted: self-signed certificate" in outcome.text
            assert server.requests == []

    asyncio.run(play())


@pytest.mark.parametrize("era", ERAS)
def test_a_server_without_tls_at_an_https_address(fleet: Fleet, era: Era) -> None:
    """A server that does not speak TLS is not spoken to in plain text."""

    async def play() -> None:
        async with faulty_http(era) as server:
            async with runtime_of(fleet, server.url.replace("http:", "https:"), era) as runtime:
                outcome = await failure_at(runtime)
                assert outcome.kind == "connect_failed"
                assert "could not be reached: the TLS handshake failed: " in outcome.text
            assert server.requests == []

    asyncio.run(play())


@pytest.mark.parametrize("era", ERAS)
def test_a_trusted_certificate(
    fleet: Fleet, certified: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    """With a certificate that the machine trusts a call over HTTPS answers, in production too."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))

    async def play() -> None:
        async with (
            faulty_http(era, tls=certified) as server,
            runtime_of(fleet, server.url, era, mode="production") as runtime,
        ):
            outcome = await echo(runtime)
            assert isinstance(outcome, ToolResult), outcome
            assert "hello" in outcome.text

    asyncio.run(play())


@pytest.mark.parametrize("era", ERAS)
def test_production_mode_refuses_plain_http_beyond_this_machine(fleet: Fleet, era: Era) -> None:
    """In production nothing is sent to an `http` address of another machine."""

    async def play() -> None:
        async with runtime_of(fleet, "http://tools.invalid/mcp", era, mode="production") as runtime:
            outcome = await failure_at(runtime)
            assert outcome.kind == "connect_failed"
            assert "beyond this machine" in outcome.text
            assert "`https`" in outcome.text

    asyncio.run(play())


@pytest.mark.parametrize("era", ["legacy", "sse"])
def test_a_session_that_the_server_forgot_is_begun_anew(fleet: Fleet, era: Era) -> None:
    """A call in a session that the server no longer knows is repeated in a new one; the model sees its answer alone."""

    async def play() -> None:
        async with faulty_http(era) as server, runtime_of(fleet, server.url, era, retry="safe") as runtime:
            assert (await echo(runtime)).ok
            server.forget()
            outcome = await echo(runtime)
            assert isinstance(outcome, ToolResult), outcome
            assert "hello" in outcome.text
            began = [request for request in server.requests if b'"initialize"' in request.body]
            assert len(began) == 2

    asyncio.run(play())


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_comes_back_is_found_again(fleet: Fleet, era: Era) -> None:
    """A server that went away fails calls while it is gone, and answers when it is back at its address."""

    async def play() -> None:
        async with faulty_http(era) as first:
            port = int(first.url.rpartition(":")[2].partition("/")[0])
            runtime = runtime_of(fleet, first.url, era, retry="safe")
            assert (await echo(runtime)).ok
        async with runtime:
            gone = await echo(runtime)
            assert isinstance(gone, ToolFailure)
            assert gone.kind in {"connect_failed", "connection_lost"}
            async with faulty_http(era, port=port):
                for _ in range(300):  # the circuit of a failed server stays open for a while
                    outcome = await echo(runtime)
                    if outcome.ok:
                        break
                    await asyncio.sleep(0.1)
                assert "hello" in outcome.text

    asyncio.run(play())
