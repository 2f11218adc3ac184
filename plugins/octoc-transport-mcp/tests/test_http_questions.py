"""Whom a real Streamable HTTP server of the handshake era asks, on a call's own stream or on the one beside it."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import Caller, Connection, Host, ServerTarget, ToolCall, ToolResult
from octoc_transport_mcp import octoc_make_transport

SERVER = Path(__file__).with_name("asking_web.py")
ACME, UMBRELLA = Caller(tenant="acme", session="one"), Caller(tenant="umbrella", session="one")
MAY_ASK: contextvars.ContextVar[Caller | None] = contextvars.ContextVar("may_ask", default=None)
"""What a host sets before a call: who is asked what the server asks."""
DECLINED = "refused: the question belongs to no running call"


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a server of its own for each test."""
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.communicate()


class Bank:
    """One connection of several callers, and who was asked on it."""

    def __init__(self, connection: Connection, folder: Path, asked: list[Caller | None]) -> None:
        self._connection = connection
        self._folder = folder
        self.asked = asked

    async def begin(self, name: str, caller: Caller, way: str) -> asyncio.Task[ToolResult]:
        """Begin a call, and return when the server has it. Its question waits for `go_on`."""
        gate = self._folder / f"{name}.gate"
        task = asyncio.create_task(self._call(gate, caller, way))
        while not gate.with_suffix(".begun").exists():  # another process says so by a file
            assert not task.done(), task.result()
            await asyncio.sleep(0.01)
        return task

    async def _call(self, gate: Path, caller: Caller, way: str) -> ToolResult:
        MAY_ASK.set(caller)
        arguments = {"gate": str(gate), "way": way}
        outcome = await self._connection.call(ToolCall(tool="pay", arguments=arguments, timeout_s=60, caller=caller))
        assert isinstance(outcome, ToolResult), outcome
        return outcome

    def go_on(self, name: str) -> None:
        """Have the server ask in a call."""
        (self._folder / f"{name}.gate").touch()


def play(url: str, folder: Path, scenario: Callable[[Bank], Awaitable[None]]) -> None:
    """Play a scenario on a connection whose host accepts, and notes who was asked."""
    asked: list[Caller | None] = []

    async def elicit(_: str, __: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(MAY_ASK.get())
        return {"action": "accept", "content": {"sure": True}}

    async def run() -> None:
        transport = octoc_make_transport("http")
        assert transport is not None
        target = ServerTarget(name="bank", transport="http", url=url, timeout_s=60)
        connection = await transport.connect(target, Host(elicit=elicit))
        try:
            assert (await connection.list_tools()).protocol_version == "2025-11-25"
            await scenario(Bank(connection, folder, asked))
        finally:
            await connection.close()

    asyncio.run(asyncio.wait_for(run(), 300))


def test_a_question_on_the_stream_of_a_call_is_that_calls(url: str, tmp_path: Path) -> None:
    """Calls of two tenants run on one connection, and each tenant is asked for its own, whatever the order."""

    async def scenario(bank: Bank) -> None:
        first = await bank.begin("first", ACME, "own")
        second = await bank.begin("second", UMBRELLA, "own")
        for name, task in (("first", first), ("second", second)):
            bank.go_on(name)
            assert (await task).text == "accept"
        assert bank.asked == [ACME, UMBRELLA]

    play(url, tmp_path, scenario)


def test_a_question_beside_the_calls_is_put_while_all_calls_are_of_one_conversation(url: str, tmp_path: Path) -> None:
    """The stream that belongs to no call says nothing of whose question it is: one conversation alone can be meant."""

    async def scenario(bank: Bank) -> None:
        alone = await bank.begin("alone", ACME, "beside")
        bank.go_on("alone")
        assert (await alone).text == "accept"
        other = await bank.begin("other", UMBRELLA, "beside")
        bank.go_on("other")
        answer = await other
        assert answer.content[0].text == DECLINED
        assert "asked for an answer of the user (elicitation)" in answer.text
        assert bank.asked == [ACME]

    play(url, tmp_path, scenario)
