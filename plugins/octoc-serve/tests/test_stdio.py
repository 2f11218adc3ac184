"""The gateway as a process over stdio: what stands on stdout, and what is left when it ends or others do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., None]
Gone = Callable[[int], Awaitable[bool]]


class Raw:
    """A client that writes its lines itself; every line that it reads has to be a message."""

    def __init__(self, root: Path) -> None:
        words = ["serve", "-v", "--workspace", str(root)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "octoc", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0
        initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert "result" in self.ask("initialize", **initialize)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method: str, **params: Any) -> int:
        """Write a request and return its id."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """Read until the answer to a request."""
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Make a request and return its answer."""
        return self.answer(self.begin(method, **params))

    def backend(self) -> int:
        """Have the backend `plain` started, and return its process."""
        told = self.ask("tools/call", name="call_mcp_tool", arguments={"tool_name": "plain__pid"})
        process: int = json.loads(told["result"]["content"][0]["text"])[0]
        return process

    def end(self) -> tuple[bytes, bytes]:
        """Return what is left on stdout and stderr after the end."""
        return self.process.communicate(timeout=120)


@pytest.mark.parametrize("how", ["stdin", "SIGTERM", "SIGINT"])
def test_nothing_is_left_and_stdout_has_only_messages(run: Run, root: Path, gone: Gone, how: str) -> None:
    """However it ends, also during a call: the backend is gone, the status 0, and on stdout are messages alone."""
    client = Raw(root)
    backend = client.backend()
    slow = client.begin("tools/call", name="call_mcp_tool", arguments={"tool_name": "slow__fault"})
    client.ask("tools/list")
    if how != "stdin":
        client.process.send_signal(getattr(signal, how))
        assert client.process.wait(120) == 0
    out, err = client.end()
    assert client.process.returncode == 0
    left = [json.loads(line) for line in out.splitlines()]
    assert [message for message in left if "result" in message and message.get("id") == slow] == []
    assert b"Traceback" not in err

    async def scenario() -> None:
        assert await gone(backend)

    run(scenario)


def test_a_client_that_vanishes_leaves_nothing(run: Run, root: Path, gone: Gone) -> None:
    """A client whose pipes break during calls ends the gateway, and its backends with it."""
    client = Raw(root)
    backend = client.backend()
    assert client.process.stdin is not None
    assert client.process.stdout is not None
    assert client.process.stderr is not None
    client.begin("tools/call", name="call_mcp_tool", arguments={"tool_name": "steps__fault"})
    client.begin("tools/call", name="call_mcp_tool", arguments={"tool_name": "slow__fault"})
    client.process.stdout.close()
    client.process.stdin.close()
    assert client.process.wait(120) == 0
    with client.process.stderr:
        assert b"Traceback" not in client.process.stderr.read()

    async def scenario() -> None:
        assert await gone(backend)

    run(scenario)


def test_a_line_that_is_no_message_costs_nothing(root: Path) -> None:
    """Garbage on stdin is passed over, and the next request is answered."""
    client = Raw(root)
    assert client.process.stdin is not None
    client.process.stdin.write(b"hello?\n\xff\xfe\n[1]\n")
    client.process.stdin.flush()
    assert "tools" in client.ask("tools/list")["result"]
    client.end()


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_request_with_a_number_that_json_does_not_have_is_refused(root: Path, number: str) -> None:
    """The request gets an error, the notification nothing, and the session goes on."""
    client = Raw(root)
    assert client.process.stdin is not None
    assert client.process.stdout is not None
    for head in ("", '"id":7,'):
        client.process.stdin.write(f'{{"jsonrpc":"2.0",{head}"method":"ping","params":{{"x":{number}}}}}\n'.encode())
    client.process.stdin.flush()
    answer = json.loads(client.process.stdout.readline())
    assert (answer["id"], answer["error"]["code"]) == (7, -32700)
    assert answer["error"]["message"].startswith("a message cannot be read: ")
    assert "tools" in client.ask("tools/list")["result"]
    client.end()


def test_a_line_of_too_many_elements_ends_the_session(root: Path) -> None:
    """A client's line is counted before it is parsed: above the limit the gateway ends."""
    client = Raw(root)
    assert client.process.stdin is not None
    client.process.stdin.write(
        b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":[' + b"[]," * 60_000 + b"[]]}}\n"
    )
    client.process.stdin.flush()
    client.process.communicate(timeout=120)
    assert client.process.returncode == 0


def test_somebody_at_a_terminal_is_told_what_is_awaited(root: Path) -> None:
    """Who types `octoc serve` sees what it is for, on stderr; the end of what is typed ends it."""
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "octoc", "serve", "--workspace", str(root)]
    with os.fdopen(ours, "wb", buffering=0) as terminal:
        process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        assert process.stderr is not None
        assert b"--print-config claude" in process.stderr.readline()
        terminal.write(b"\x04")
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, b"")
    assert all(b"run `octoc pin " in line for line in err.splitlines())


def test_a_backend_that_is_killed_costs_its_own_calls(run: Run, connect: Callable[..., Any]) -> None:
    """SIGKILL of a backend while calls run: every call is answered, failures say why, and later calls succeed."""

    async def scenario() -> None:
        async with connect("modern") as heard:

            async def call(number: int) -> Any:
                wanted = {"tool_name": "plain__echo", "arguments": {"n": number}}
                return number, await heard.client.call_tool("call_mcp_tool", wanted)

            told = await heard.client.call_tool("call_mcp_tool", {"tool_name": "plain__pid"})
            backend = json.loads(told.content[0].text)[0]
            calls = [asyncio.create_task(call(number)) for number in range(100)]
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            os.kill(backend, signal.SIGKILL)
            for number, result in await asyncio.gather(*calls):
                if result.is_error:
                    assert result.meta["octoc/kind"] in {"connection_lost", "connect_failed", "unavailable"}
                else:
                    assert json.loads(result.content[0].text) == {"n": number}
            _, after = await call(1000)
            assert not after.is_error

    run(scenario)
