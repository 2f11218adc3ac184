"""Which connection a call gets where servers ask their callers: one of its own account, without an abandoned call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from octoc.results import ToolResult

if TYPE_CHECKING:
    from octoc.runtime import Runtime, Session
    from tests.runtime.conftest import Fleet, Link, Server


def run(fleet: Fleet, body: Callable[[Runtime], Awaitable[None]]) -> None:
    """Run `body` on the fleet's runtime; no connection is left."""

    async def bounded() -> None:
        async with asyncio.timeout(60), fleet.open() as runtime:
            await body(runtime)
        assert all(server.open == 0 for server in fleet.servers.values())

    asyncio.run(bounded())


def one(fleet: Fleet, tools: Any = ("now",), **fields: Any) -> Server:
    """A fleet of one server."""
    server = fleet.server("s", tools, **fields)
    fleet.agent(proxy=True)
    return server


async def now(session: Session) -> None:
    """Make a call."""
    assert (await session.call("s/now", {})).ok


def mark(link: Link, **facts: bool) -> None:
    """Have a connection say something of itself, as a transport's does."""
    for name, value in facts.items():
        setattr(link, name, value)


def test_accounts_share_a_connection_until_the_server_asks(fleet: Fleet) -> None:
    """A shared connection is replaced after the first question, and then each tenant keeps its own."""
    server = one(fleet)

    async def body(runtime: Runtime) -> None:
        acme, umbrella = runtime.session(tenant="acme"), runtime.session(tenant="umbrella")
        for session in (acme, umbrella, acme):
            await now(session)
        assert server.connects == 1
        mark(server.connections[0], asks=True)
        for session in (acme, umbrella, acme, umbrella):
            await now(session)
        assert (server.connects, server.open) == (3, 2)

    run(fleet, body)


def test_a_connection_that_one_account_alone_has_used_stays_its_own(fleet: Fleet) -> None:
    """With a single tenant nothing is replaced when the server asks."""
    server = one(fleet)

    async def body(runtime: Runtime) -> None:
        acme = runtime.session(tenant="acme")
        await now(acme)
        mark(server.connections[0], asks=True)
        await now(acme)
        assert server.connects == 1
        await now(runtime.session(tenant="umbrella"))
        assert (server.connects, server.open) == (2, 2)

    run(fleet, body)


@pytest.mark.parametrize("kind", ["elicitation", "sampling", "roots"])
def test_a_stdio_server_that_is_known_to_ask_is_never_shared(fleet: Fleet, kind: str) -> None:
    """A setting keeps tenants apart from the first call."""
    server = one(fleet, **{kind: True})

    async def body(runtime: Runtime) -> None:
        for tenant in ("acme", "umbrella"):
            await now(runtime.session(tenant=tenant))
        assert server.connects == 2

    run(fleet, body)


def test_no_more_connections_are_open_than_calls_may_run(fleet: Fleet) -> None:
    """With many tenants the connection that is idle the longest closes."""
    server = one(fleet, elicitation=True, max_concurrent=3)

    async def body(runtime: Runtime) -> None:
        for number in range(8):
            await now(runtime.session(tenant=f"t{number}"))
        await asyncio.sleep(0)
        assert server.connects == 8
        assert server.open <= 4  # one may still be closing

    run(fleet, body)


def test_an_abandoned_call_keeps_others_off_its_connection_until_it_is_answered(fleet: Fleet) -> None:
    """Where the server asks, a call gets another connection meanwhile, and the first one again afterwards."""
    server = one(fleet, elicitation=True)

    async def body(runtime: Runtime) -> None:
        acme = runtime.session(tenant="acme")
        await now(acme)
        mark(server.connections[0], abandoned=True)
        await now(acme)
        assert (server.connects, server.open) == (2, 2)
        mark(server.connections[0], abandoned=False)
        mark(server.connections[1], abandoned=True)
        await now(acme)
        assert server.connects == 2

    run(fleet, body)


def test_a_stale_connection_is_replaced_while_other_calls_finish_on_it(fleet: Fleet) -> None:
    """New calls use a new connection, the running call ends normally, and its connection closes after it."""
    release = asyncio.Event()

    async def held(_: Mapping[str, Any]) -> ToolResult:
        await release.wait()
        return ToolResult.of_text("held")

    async def quick(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("now")

    server = one(fleet, {"now": quick, "hold": held})

    async def body(runtime: Runtime) -> None:
        session = runtime.session(tenant="acme")
        running = asyncio.create_task(session.call("s/hold", {}))
        while not server.calls:  # noqa: ASYNC110  # the server has no more to tell
            await asyncio.sleep(0)
        first = server.connections[0]
        mark(first, stale=True)
        await now(session)
        assert (server.connects, first.closed) == (2, False)
        release.set()
        assert (await running).text == "held"
        while not first.closed:  # noqa: ASYNC110  # it is closed by a task of the pool
            await asyncio.sleep(0.001)
        await now(session)
        assert server.connects == 2

    run(fleet, body)


def test_a_connection_that_is_unusable_when_it_is_there_holds_up_nobody(fleet: Fleet) -> None:
    """The call that waited for it gets another one, and the event loop goes on meanwhile."""
    server = one(fleet)
    server.connect_gate = asyncio.Event()

    async def body(runtime: Runtime) -> None:
        assert server.connect_gate is not None
        running = asyncio.create_task(now(runtime.session(tenant="acme")))
        await server.busy.wait()
        server.connect_gate.set()
        while not server.connections:  # noqa: ASYNC110  # it is there before the call may use it
            await asyncio.sleep(0)
        mark(server.connections[0], stale=True)
        await running
        assert server.connects in {1, 2}

    run(fleet, body)
