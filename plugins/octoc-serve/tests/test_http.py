"""The gateway over HTTP: who is let in, what is bounded, how it changes its bundle under way, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import math
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder, stdio_script
from octoc_serve.admission import Admission
from octoc_serve.http import HttpApp
from octoc_serve.server import GatewayServer
from octoc_serve.session_store import MemorySessionStore
from octoc_serve.settings import GatewaySettings
from octoc_serve.tokens import Tokens

Run = Callable[..., None]
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
Ask = Callable[..., tuple[int, dict[str, str], str]]


def announced(url: str, length: int) -> int:
    """Return the status for a body of which only the length is sent: a server that refuses it need not read it."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    with contextlib.closing(connection):
        connection.putrequest("POST", parts.path)
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(length))
        connection.endheaders()
        return connection.getresponse().status


def text_of(result: Any) -> str:
    """Return the text parts of a result."""
    return "\n".join(part.text for part in result.content if part.type == "text")


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; a test that waits without effect fails by its own assert."""
    for _ in range(1200):
        if holds():
            return
        await asyncio.sleep(0.05)


def test_without_tokens_this_machine_is_served_and_no_web_page(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any]
) -> None:
    """Foreign Host and Origin are refused, an allowed one is not; probes answer, bodies are JSON and bounded."""
    gateway = serve("--allow-origin", "https://app.example")
    url = gateway.url
    assert ask(url, initialize)[0] == 200
    assert ask(url, initialize, Origin="http://localhost:6274")[0] == 200
    assert ask(url, initialize, Origin="https://app.example")[0] == 200
    assert ask(url, initialize, Host="app.example")[0] == 200
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        assert ask(url, initialize, **headers)[0] == 403
    assert announced(url, 4 * 1024 * 1024 + 1) == 413
    many = {**initialize, "params": {**initialize["params"], "_meta": {"x": [[]] * 60_000}}}
    assert ask(url, many)[0] == 413
    text = {**initialize, "params": {**initialize["params"], "_meta": {"x": ",[" * 200_000}}}
    assert ask(url, text)[0] == 200
    for number in (math.nan, math.inf):
        odd = {**initialize, "params": {**initialize["params"], "_meta": {"x": number}}}
        status, _, refused = ask(url, odd)
        assert (status, "a message cannot be read: `" in refused, "is not JSON" in refused) == (400, True, True)
    assert ask(f"{gateway.base}/healthz")[0] == 200
    assert ask(f"{gateway.base}/readyz")[0] == 200
    assert ask(f"{gateway.base}/nothing-here")[0] == 404


def test_a_token_says_which_agent_it_is(
    run: Run,
    serve: Callable[..., Any],
    connect: Callable[..., Any],
    ask: Ask,
    initialize: dict[str, Any],
    tmp_path: Path,
) -> None:
    """With tokens a client without one is refused; each sees its own agent, and no MCP session of another."""
    tokens = Tokens(tmp_path / "tokens.json")
    _, clerk = tokens.add("clerk", "acme")
    entry, supervisor = tokens.add("supervisor")
    _, stranger = tokens.add("an-unknown-agent")
    gateway = serve()
    status, headers, _ = ask(gateway.url, initialize)
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    for authorization, why in (
        ("Bearer octoc_wrong", "this token is not known"),
        (f"Basic {clerk}", "a token is needed"),
        ("Bearer", "a token is needed"),
        (clerk, "a token is needed"),
    ):
        status, _, body = ask(gateway.url, initialize, Authorization=authorization)
        assert status == 401
        assert why in body
    status, _, body = ask(gateway.url, initialize, Authorization=f"Bearer {stranger}")
    assert status == 401
    assert "for no agent that is served here" in body

    async def scenario() -> None:
        for era in ("handshake", "modern"):
            async with connect(era, gateway, token=clerk) as heard:
                names = [tool.name for tool in (await heard.client.list_tools()).tools]
                assert names == ["plain__echo", "plain__pid"]
                refused = await heard.client.call_tool("steps__echo", {})
                assert refused.meta["octoc/kind"] == "not_found"

    run(scenario)
    _, headers, _ = ask(gateway.url, initialize, Authorization=f"Bearer {supervisor}")
    session = {"Mcp_Session_Id": headers["mcp-session-id"], "MCP_Protocol_Version": "2025-11-25"}
    assert ask(gateway.url, LIST, Authorization=f"Bearer {clerk}", **session)[0] == 404
    assert ask(gateway.url, LIST, Authorization=f"Bearer {supervisor}", **session)[0] == 200
    opened = {"Authorization": f"Bearer {supervisor}", "Accept": "text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in session.items()}
    news = urllib.request.Request(gateway.url, headers={**opened, **named})  # noqa: S310  # the loopback

    async def revoked() -> None:
        with await asyncio.to_thread(urllib.request.urlopen, news) as stream:
            assert tokens.revoke(entry.id)
            with contextlib.suppress(http.client.IncompleteRead):
                assert await asyncio.to_thread(stream.read) == b""

        def refused() -> bool:
            return ask(gateway.url, LIST, Authorization=f"Bearer {supervisor}", **session)[0] == 401

        await until(refused)
        assert refused()

    run(revoked)
    for text in (clerk, supervisor):
        assert text not in (tmp_path / "tokens.json").read_text(encoding="utf-8")
        assert text not in "".join(gateway.log)


def test_state_is_each_clients_own(run: Run, serve: Callable[..., Any], connect: Callable[..., Any]) -> None:
    """What one MCP session activates, another does not see, nor its handles."""
    gateway = serve()

    async def scenario() -> None:
        async with connect("handshake", gateway) as one, connect("handshake", gateway) as other:
            await one.client.call_tool("capability", {"action": "enable", "name": "time"})
            long = {"tool_name": "plain__echo", "arguments": {"text": "x" * 9000}}
            cut = await one.client.call_tool("call_mcp_tool", long)
            assert len((await one.client.list_tools()).tools) == 6
            assert len((await other.client.list_tools()).tools) == 4
            stolen = await other.client.call_tool("read_result", {"handle": cut.meta["octoc/handle"]})
            assert stolen.is_error

    run(scenario)


def test_sessions_are_bounded_and_idle_ones_end(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any]
) -> None:
    """One session more than there may be is refused, until an idle one has ended by itself."""
    gateway = serve("--max-sessions", "1", "--idle", "1")
    status, headers, _ = ask(gateway.url, initialize)
    assert status == 200
    session = {"Mcp_Session_Id": headers["mcp-session-id"], "MCP_Protocol_Version": "2025-11-25"}
    assert ask(gateway.url, LIST, **session)[0] == 200
    assert ask(gateway.url, initialize)[0] == 503

    async def room() -> None:
        await until(lambda: ask(gateway.url, initialize)[0] == 200)

    asyncio.run(room())
    assert ask(gateway.url, LIST, **session)[0] == 404


def test_a_new_bundle_is_taken_over_under_calls(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], tmp_path: Path
) -> None:
    """A bundle that replaces the one served shows its tools, and no call fails; a broken one leaves all as it is."""

    def built(tools: list[str]) -> Path:
        script = tmp_path / "server.py"
        script.write_text(SERVER, encoding="utf-8")
        workspace = WorkspaceBuilder(tmp_path / "ws")
        workspace.server("plain", sys.executable, "-I", "-S", str(script)).snapshot("plain", tools)
        workspace.agent("clerk", type="worker", tools=[f"plain/{tool}" for tool in tools])
        outcome = workspace.build()
        assert outcome.bundle is not None
        return outcome.bundle

    served = tmp_path / "served.octoc"
    shutil.copy(built(["echo"]), served)
    gateway = serve("--agent", "clerk", bundle=served)

    async def scenario() -> None:
        async with connect("handshake", gateway) as heard:
            failed: list[Any] = []
            calls = 0
            enough = asyncio.Event()

            async def call() -> None:
                nonlocal calls
                while not enough.is_set():
                    result = await heard.client.call_tool("plain__echo", {"n": calls})
                    calls += 1
                    if result.is_error:
                        failed.append(result)

            async def names() -> list[str]:
                return [tool.name for tool in (await heard.client.list_tools()).tools]

            assert await names() == ["plain__echo"]
            calling = asyncio.create_task(call())
            aside = tmp_path / "aside"
            shutil.copy(built(["echo", "pid"]), aside)
            aside.replace(served)
            await until(lambda: "notifications/tools/list_changed" in heard.news)
            assert await names() == ["plain__echo", "plain__pid"]
            aside.write_bytes(b"no bundle")
            aside.replace(served)
            gateway.process.send_signal(signal.SIGHUP)
            await until(lambda: any("the new bundle is refused" in line for line in gateway.log))
            assert any("the new bundle is refused" in line for line in gateway.log)
            assert await names() == ["plain__echo", "plain__pid"]
            enough.set()
            await calling
            assert calls > 0
            assert failed == []

    run(scenario)


SERVER = stdio_script("""
def tools():
    return ["echo", "pid"]


def call(name, arguments):
    return json.dumps({"name": name, "arguments": arguments})
""")


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_calls_under_way_end_before_the_gateway_does(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], era: str
) -> None:
    """SIGTERM lets a call that is under way end, takes no other, and ends with status 0 although news are open.

    The log has the begin and the end of this, with their times.
    """
    gateway = serve()
    answers: list[str] = []

    async def scenario() -> None:
        async with connect(era, gateway) as heard, contextlib.AsyncExitStack() as stack:
            if era == "modern":
                await stack.enter_async_context(heard.client.listen(tools_list_changed=True))
            await heard.client.list_tools()  # else the client asks for them after its first answer
            started = asyncio.Event()

            async def hear(*_: Any) -> None:
                started.set()

            wanted = {"tool_name": "steps__fault", "arguments": {}}
            calling = asyncio.create_task(heard.client.call_tool("call_mcp_tool", wanted, progress_callback=hear))
            await started.wait()
            gateway.process.send_signal(signal.SIGTERM)
            answers.append(text_of(await calling))
            await asyncio.to_thread(gateway.process.wait, 30)

    with contextlib.suppress(BaseExceptionGroup):  # the client cannot say goodbye any more
        run(scenario)
    assert answers == ["done"]
    assert gateway.stop() == 0
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
    begun, ended = gateway.log[-2:]
    assert re.fullmatch(f"{time} octoc: stopping: waiting up to 30 s for 1 call\n", begun)
    assert re.fullmatch(f"{time} octoc: stopped\n", ended)


def test_a_gateway_that_leaves_serves_on_until_a_balancer_knows(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any]
) -> None:
    """With --shutdown-delay SIGTERM makes it not ready; it answers on connections that then close; again ends it."""
    gateway = serve("--shutdown-delay", "3600")
    parts = urllib.parse.urlsplit(gateway.url)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as connection:

        def initialized() -> tuple[int, bool]:
            connection.request("POST", parts.path, json.dumps(initialize), headers)
            answer = connection.getresponse()
            assert "protocolVersion" in answer.read().decode()
            return answer.status, answer.will_close

        assert initialized() == (200, False)
        gateway.process.send_signal(signal.SIGTERM)
        asyncio.run(until(lambda: ask(f"{gateway.base}/readyz")[0] == 503))
        assert initialized() == (200, True)
    assert gateway.stop() == 0
    assert "octoc: stopping: serving on for 3600 s, not ready" in "".join(gateway.log)


def test_more_than_this_machine_needs_tokens(root: Path, tmp_path: Path) -> None:
    """Without tokens another address than the loopback is refused at the start, with the next step."""
    words = ["serve", "--workspace", str(root), "--transport", "http", "--port", "0", "--host", "0.0.0.0"]  # noqa: S104  # refused
    words += ["--tokens", str(tmp_path / "none.json")]
    done = subprocess.run([sys.executable, "-m", "octoc", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "without tokens only this machine is served" in done.stderr
    assert "octoc serve token add" in done.stderr


def test_a_request_that_outlasts_the_drain_is_answered(root: Path, tmp_path: Path) -> None:
    """A request that the HTTP server ends at its time limit is answered, and not logged as a fault."""

    async def scenario() -> None:
        (bundle,) = (root / "dist").glob("*.octoc")
        settings = GatewaySettings(bundle=bundle, transport="http")
        async with Runtime.open(bundle, workspace=root) as runtime:
            gateway = GatewayServer(runtime, MemorySessionStore(9, None))
            admission = Admission(runtime, settings, Tokens(tmp_path / "none.json"), ())
            app = HttpApp(gateway, settings, admission)
            waiting = asyncio.Event()
            sent: list[Any] = []

            async def receive() -> Any:
                waiting.set()
                await asyncio.Event().wait()

            async def send(message: Any) -> None:
                sent.append(message)

            headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
            headers += [(b"accept", b"application/json, text/event-stream")]
            scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "query_string": b""}
            async with app.manager.run():
                asking = asyncio.create_task(app(scope, receive, send))
                await waiting.wait()
                asking.cancel()
                await asking
            assert [message.get("status") for message in sent] == [503, None]

    asyncio.run(asyncio.wait_for(scenario(), 300))
