"""The pool's laws, whatever comes in whatever order: bounds are kept, all that was lent comes back, nothing stays."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from unittest.mock import patch

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.bundle.model import ServerEntry
from octoc.results import ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime.servers.breaker import CircuitBreaker
from octoc.runtime.servers.connection import NewConnection
from octoc.runtime.servers.pool import Pool
from octoc.runtime.servers.server_pool import ServerPool
from octoc.runtime.servers.unreachable import UnreachableError

MOST_OPEN, MOST_RUNNING = 3, 5
LISTING = ServerListing(server_info={}, protocol_version="1", instructions=None, tools=())


@attrs.define(eq=False)
class Connection:
    """A connection that counts itself."""

    world: World
    alive: bool = True
    closed: bool = False

    async def list_tools(self) -> ServerListing:
        return LISTING

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        return ToolResult.of_text("never asked for")

    async def close(self) -> None:
        await asyncio.sleep(0)
        if not self.closed:
            self.closed = True
            self.world.open.discard(self)


@attrs.define(eq=False)
class World:
    """A server of the test, its pool, and the calls that hold a lease."""

    broken: bool = False
    slow: bool = False
    open: set[Connection] = attrs.field(factory=set)
    holding: int = 0
    most_holding: int = 0
    lent: int = 0
    refused: int = 0
    tasks: list[asyncio.Task[None]] = attrs.field(factory=list)
    ends: list[asyncio.Event] = attrs.field(factory=list)
    changed: Callable[[], None] = lambda: None

    async def connect(self, entry: ServerEntry, changed: Callable[[], None], *, first: bool) -> NewConnection:
        self.changed = changed
        for _ in range(3 if self.slow else 1):
            await asyncio.sleep(0)
        if self.broken:
            from octoc.runtime.servers.unreachable import unreachable

            raise unreachable("connect_failed", "it is down")
        connection = Connection(self)
        self.open.add(connection)
        return NewConnection(connection=connection, listing=LISTING if first else None)

    def turn(self, step: str) -> None:
        """Change what the server is like."""
        if step in ("break", "repair"):
            self.broken = step == "break"
        elif step == "slow":
            self.slow = not self.slow
        elif step == "changed":
            self.changed()

    async def hold(self, pool: Pool, end: asyncio.Event) -> None:
        try:
            async with pool.use("s", time.monotonic() + 60 if self.lent % 2 else None) as lease:
                assert not lease.connection.closed  # type: ignore[attr-defined]  # it is one of ours
                self.lent += 1
                self.holding += 1
                self.most_holding = max(self.most_holding, self.holding)
                try:
                    await end.wait()
                finally:
                    self.holding -= 1
        except UnreachableError:
            self.refused += 1


STEPS = st.one_of(
    st.tuples(st.just("call"), st.integers(1, 4)),
    st.tuples(st.sampled_from(["finish", "cancel", "kill"]), st.integers(0, 9)),
    st.tuples(st.sampled_from(["break", "repair", "slow", "release", "changed"]), st.just(0)),
    st.tuples(st.just("turn"), st.integers(1, 6)),
)


async def _take(world: World, pool: Pool, step: str, number: int) -> None:
    match step:
        case "call":
            for _ in range(number):
                end = asyncio.Event()
                world.ends.append(end)
                world.tasks.append(asyncio.create_task(world.hold(pool, end)))
        case "finish" if world.ends:
            world.ends[number % len(world.ends)].set()
        case "cancel" if world.tasks:
            world.tasks[number % len(world.tasks)].cancel()
        case "kill":
            for connection in list(world.open)[: number % 3]:
                connection.alive = False
        case "release":
            pool.drop("s")
        case "turn":
            for _ in range(number):
                await asyncio.sleep(0)
        case _:
            world.turn(step)


@settings(max_examples=80)
@given(steps=st.lists(STEPS, max_size=40), finish=st.booleans(), growing=st.integers(1, MOST_OPEN))
def test_the_laws_of_the_pool(steps: list[tuple[str, int]], finish: bool, growing: int) -> None:
    """Never more connections or calls than allowed, every call ends, a closed pool has no task and no connection."""

    async def run() -> None:
        world = World()
        entry = ServerEntry(
            name="s", transport="stdio", max_connections=growing, max_concurrent=MOST_RUNNING, idle_close_s=0.001
        )
        server = ServerPool(entry, world.connect, CircuitBreaker(0, 1))
        pool = Pool({"s": server})
        for step, number in steps:
            await _take(world, pool, step, number)
            assert server.open <= growing
            assert server.places.taken <= MOST_RUNNING
            assert world.holding <= server.places.taken
        world.broken = False
        if finish:
            for end in world.ends:
                end.set()
            async with asyncio.timeout(60):
                await asyncio.gather(*world.tasks, return_exceptions=True)
            assert server.places.taken == 0
        closing = asyncio.create_task(pool.close_all(0.0))
        for end in world.ends:
            end.set()
        with contextlib.suppress(asyncio.CancelledError):
            await closing
        await asyncio.gather(*world.tasks, return_exceptions=True)
        assert all(task.cancelled() or task.exception() is None for task in world.tasks)
        assert (server.places.taken, server.open, server.tasks, len(server.leases)) == (0, 0, 0, 0)
        assert not world.open
        assert world.most_holding <= MOST_RUNNING
        assert asyncio.all_tasks() == {asyncio.current_task()}

    # Pauses as they are, but short: what counts is what happens in them.
    with patch("octoc.runtime.servers.server_pool.reconnect_pause", lambda failures: 0.0005 * (failures > 1)):
        asyncio.run(run())
