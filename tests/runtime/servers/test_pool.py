"""The pool: one connection per server for all callers, also when one is cancelled or fails."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from octoc.results import ToolFailure, ToolResult
from tests.runtime.conftest import Link

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet, Server


async def _called(server: Server) -> None:
    """Wait until a call has reached the server."""
    while not server.calls:
        server.busy.clear()
        await server.busy.wait()


def test_a_connection_that_cannot_end_does_not_hide_why_it_had_to(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What a plugin raises while it closes an unlisted server that cannot list is logged; the call is a value."""

    async def close(_: Link) -> None:
        raise RuntimeError

    monkeypatch.setattr(Link, "close", close)
    fleet.server("s", ["t"], listed=False).unlistable = True
    fleet.agent(proxy=True)

    async def scenario() -> ToolResult | ToolFailure:
        async with fleet.open() as runtime:
            return await runtime.call_direct("s", "t")

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, outcome.message) == ("connect_failed", "it cannot list its tools")
    assert "server `s` did not close: RuntimeError" in caplog.text


def test_many_first_calls_connect_once(fleet: Fleet) -> None:
    """Calls of several sessions that come at once share one connection."""
    server = fleet.server("time", ["now"])
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            sessions = [runtime.session() for _ in range(3)]
            outcomes = await asyncio.gather(*(session.call("now") for session in sessions for _ in range(4)))
            assert all(outcome.ok for outcome in outcomes)

    asyncio.run(run())
    assert (server.connects, len(server.calls), server.open) == (1, 12, 0)


def test_a_cancelled_waiter_does_not_cancel_the_others(fleet: Fleet) -> None:
    """Who waits for a connection may give up; the others get it all the same."""
    server = fleet.server("time", ["now"])
    fleet.agent(proxy=True)

    async def run() -> None:
        server.connect_gate = asyncio.Event()
        async with fleet.open() as runtime:
            session = runtime.session()
            first = asyncio.create_task(session.call("now"))
            second = asyncio.create_task(session.call("now"))
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert first.cancelled()
            server.connect_gate.set()
            assert (await second).ok

    asyncio.run(run())
    assert (server.connects, server.open) == (1, 0)


def test_closing_while_connecting_leaves_nothing_behind(fleet: Fleet) -> None:
    """A runtime that closes while a server connects gives the waiter a failure, and no connection stays open."""
    server = fleet.server("time", ["now"])
    fleet.agent(proxy=True)

    async def run() -> None:
        server.connect_gate = asyncio.Event()
        runtime = fleet.open()
        waiting = asyncio.create_task(runtime.session().call("now"))
        await server.busy.wait()
        await runtime.close()
        outcome = await waiting
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.message) == ("cancelled", "the runtime is closed")

    asyncio.run(run())
    assert server.open == 0


def test_a_call_under_way_ends_before_its_connection(fleet: Fleet) -> None:
    """A server that is released during a call closes when the call has ended."""
    release = asyncio.Event()

    async def slow(arguments: Mapping[str, Any]) -> ToolResult:
        await release.wait()
        return ToolResult.of_text("done")

    server = fleet.server("time", {"slow": slow})
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            call = asyncio.create_task(runtime.session().call("slow"))
            await _called(server)
            runtime.state.current.pool.drop("time")
            assert (server.closes, runtime.state.current.pool.servers) == (0, ())
            release.set()
            assert (await call).text == "done"
            assert server.closes == 1

    asyncio.run(run())


def test_a_closed_runtime_connects_nothing(fleet: Fleet) -> None:
    """After the end a call is a failure, and closing again does nothing."""
    server = fleet.server("time", ["now"])
    fleet.agent(proxy=True)

    async def run() -> None:
        runtime = fleet.open()
        session = runtime.session()
        await runtime.close()
        await runtime.close()
        assert not (await session.call("now")).ok

    asyncio.run(run())
    assert server.connects == 0


def test_a_cancelled_call_leaves_the_connection_usable(fleet: Fleet) -> None:
    """Cancelling a call passes through, and the next call uses the same connection."""

    async def hang(arguments: Mapping[str, Any]) -> ToolResult:
        await asyncio.sleep(60)
        return ToolResult.of_text("late")

    async def now(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("12:00")

    server = fleet.server("time", {"hang": hang, "now": now})
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            call = asyncio.create_task(session.call("hang"))
            await _called(server)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert call.cancelled()
            assert (await session.call("now")).text == "12:00"

    asyncio.run(run())
    assert server.connects == 1
