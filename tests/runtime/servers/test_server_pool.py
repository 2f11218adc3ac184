"""One server's pool: how many connections and calls there are at most, how it waits, restarts, breaks and ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ToolPolicy
from octoc.results import ToolFailure, ToolResult

if TYPE_CHECKING:
    from octoc.runtime import Runtime
    from tests.runtime.conftest import Fleet, Server


class Busy:
    """A tool that runs until the test releases it; it counts how many run at once."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.now = 0
        self.most = 0

    async def __call__(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.release.wait()
        finally:
            self.now -= 1
        return ToolResult.of_text("done")


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # conditions of all kinds, none of which tells
            await asyncio.sleep(0.001)


def _run(fleet: Fleet, body: Callable[[Runtime], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(60), fleet.open() as runtime:
            await body(runtime)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others
        assert all(server.open == 0 for server in fleet.servers.values())

    asyncio.run(run())


def _one(fleet: Fleet, tools: Any = ("now",), **fields: Any) -> Server:
    server = fleet.server("s", tools, **fields)
    fleet.agent(proxy=True)
    return server


def test_another_connection_opens_when_all_are_busy(fleet: Fleet) -> None:
    """Calls are spread over connections up to the limit, and share them beyond it."""
    busy = Busy()
    server = _one(fleet, {"work": busy}, max_connections=3)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        calls = [asyncio.create_task(session.call("s__work")) for _ in range(7)]
        await _until(lambda: busy.now == 7)
        busy.release.set()
        assert all(outcome.ok for outcome in await asyncio.gather(*calls))

    _run(fleet, body)
    assert 1 < server.connects <= 3


def test_calls_one_after_another_stay_on_one_connection(fleet: Fleet) -> None:
    """A second connection is not opened while the first is free."""
    server = _one(fleet, max_connections=4)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        for _ in range(5):
            assert (await session.call("s__now")).ok

    _run(fleet, body)
    assert server.connects == 1


def test_a_second_connection_that_fails_fails_no_call(fleet: Fleet) -> None:
    """When another connection cannot be opened, the calls share the existing one."""
    busy = Busy()
    server = _one(fleet, {"work": busy}, max_connections=2)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        first = asyncio.create_task(session.call("s__work"))
        await _until(lambda: busy.now == 1)
        server.broken = "no more licences"
        second = asyncio.create_task(session.call("s__work"))
        await _until(lambda: busy.now == 2)
        busy.release.set()
        assert (await first).ok
        assert (await second).ok

    _run(fleet, body)
    assert server.connects == 2


def test_no_more_calls_run_than_are_allowed(fleet: Fleet) -> None:
    """The others wait their turn, and each gets its own answer."""
    busy = Busy()
    _one(fleet, {"work": busy}, max_concurrent=2)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        calls = [asyncio.create_task(session.call("s__work")) for _ in range(6)]
        await _until(lambda: busy.now == 2)
        await asyncio.sleep(0.01)
        busy.release.set()
        assert all(outcome.ok for outcome in await asyncio.gather(*calls))

    _run(fleet, body)
    assert busy.most == 2


def test_waiting_for_a_place_counts_to_the_time_limit(fleet: Fleet) -> None:
    """A call that gets no place in time says so, and that nothing was sent."""
    busy = Busy()
    server = _one(
        fleet, {"work": busy, "quick": busy}, max_concurrent=1, policies=[ToolPolicy(glob="q*", timeout_s=0.1)]
    )

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        first = asyncio.create_task(session.call("s__work"))
        await _until(lambda: busy.now == 1)
        outcome = await session.call("s__quick")
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.sent) == ("timeout", False)
        assert outcome.message == "server `s` is busy: none of its 1 places for calls became free within 0.1 s"
        busy.release.set()
        assert (await first).ok

    _run(fleet, body)
    assert len(server.calls) == 1


def test_a_queue_is_bounded(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that would make the queue too long is refused at once."""
    monkeypatch.setattr("octoc.runtime.servers.concurrency.MAX_WAITING", 1)
    busy = Busy()
    _one(fleet, {"work": busy}, max_concurrent=1)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        calls = [asyncio.create_task(session.call("s__work")) for _ in range(2)]
        await _until(lambda: busy.now == 1)
        outcome = await session.call("s__work")
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.message) == ("unavailable", "server `s` is busy: 1 calls run and 1 wait")
        busy.release.set()
        assert all(one.ok for one in await asyncio.gather(*calls))

    _run(fleet, body)


def test_a_connection_that_takes_too_long_counts_to_the_time_limit(fleet: Fleet) -> None:
    """A call's time is wall clock around all; the connection that came too late serves the next call."""
    server = _one(fleet, ["quick", "now"], policies=[ToolPolicy(glob="quick", timeout_s=0.05)])
    server.connect_gate = asyncio.Event()

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        outcome = await session.call("s__quick")
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.message) == ("timeout", "server `s` did not connect within 0.05 s")
        assert server.connect_gate is not None
        server.connect_gate.set()
        assert (await session.call("s__now")).ok

    _run(fleet, body)
    assert server.connects == 1


def test_an_idle_connection_is_closed(fleet: Fleet) -> None:
    """After `idle_close` seconds without a call the connection closes, and the next call opens one again."""
    server = _one(fleet, idle_close_s=0.05)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        assert (await session.call("s__now")).ok
        await _until(lambda: server.open == 0)
        assert (await session.call("s__now")).ok
        assert server.open == 1

    _run(fleet, body)
    assert server.connects == 2


def test_a_connection_in_use_is_not_idle(fleet: Fleet) -> None:
    """A long call keeps its connection, however long it takes."""
    busy = Busy()
    server = _one(fleet, {"work": busy}, idle_close_s=0.02)

    async def body(runtime: Runtime) -> None:
        call = asyncio.create_task(runtime.session().call("s__work"))
        await _until(lambda: busy.now == 1)
        await asyncio.sleep(0.1)
        assert server.open == 1
        busy.release.set()
        assert (await call).ok

    _run(fleet, body)


def test_a_dead_server_is_restarted_with_growing_pauses(fleet: Fleet) -> None:
    """Restarts come at once, then after 0.5 s; a call in between waits, or fails with the time when too short."""
    server = _one(fleet, ["now", "quick"], policies=[ToolPolicy(glob="quick", timeout_s=0.2)], retry="never")

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        assert (await session.call("s__now")).ok
        server.connections[-1].alive = False
        server.broken = "the command exited with status 1"
        assert not (await session.call("s__now")).ok
        assert server.connects == 2
        outcome = await session.call("s__quick")
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.sent, server.connects) == ("unavailable", False, 2)
        assert outcome.retry_after_s is not None
        assert 0 < outcome.retry_after_s <= 0.5
        assert "(last failure: `connect_failed`); next attempt in" in outcome.text
        assert "exited with status 1" not in outcome.text
        server.broken = None
        assert (await session.call("s__now")).ok

    _run(fleet, body)
    assert server.connects == 3


def test_calls_that_wait_for_a_restart_share_it(fleet: Fleet) -> None:
    """Many calls that wait out one pause make one connection."""
    server = _one(fleet, retry="never")

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        server.broken = "not yet"
        for _ in range(2):
            assert not (await session.call("s__now")).ok
        server.broken = None
        assert all(one.ok for one in await asyncio.gather(*(session.call("s__now") for _ in range(5))))

    _run(fleet, body)
    assert (server.connects, len(server.connections)) == (3, 1)


def test_a_place_that_was_given_to_a_cancelled_call_goes_on(fleet: Fleet) -> None:
    """A call that is cancelled in the moment in which its turn comes hands its place to the next."""
    _one(fleet, max_concurrent=1)

    async def body(runtime: Runtime) -> None:
        places = runtime.state.current.pool["s"].places
        await places.enter()
        waiting = [asyncio.create_task(places.enter()) for _ in range(2)]
        await asyncio.sleep(0)
        places.leave()
        waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (waiting[0].cancelled(), waiting[1].cancelled(), places.taken) == (True, False, 1)
        places.leave()
        assert places.taken == 0

    _run(fleet, body)


def test_a_server_that_fails_too_often_is_left_alone(fleet: Fleet) -> None:
    """After `breaker_failures` in a row of a tool it is not called for `breaker_s`, then once; all else goes on."""

    async def hang(arguments: Mapping[str, Any]) -> ToolResult:
        await asyncio.sleep(60)
        return ToolResult.of_text("late")

    server = fleet.server("s", {"hang": hang, "now": _ok}, policies=[ToolPolicy(glob="hang", timeout_s=0.02)])
    fleet.server("other", ["now"])
    fleet.settings = attrs.evolve(fleet.settings, breaker_failures=3, breaker_s=1.0)
    fleet.agent(proxy=True)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        async with runtime.state.current.pool.use("s"):
            pass  # the time limit of the calls below is too short to connect in
        for _ in range(3):
            outcome = await session.call("s__hang")
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == "timeout"
        outcome = await session.call("s__hang")
        assert isinstance(outcome, ToolFailure)
        assert (outcome.kind, outcome.sent, len(server.calls)) == ("unavailable", False, 3)
        assert "failed 3 times in a row" in outcome.message
        assert (await session.call("other__now")).ok
        assert (await session.call("s__now")).ok
        await asyncio.sleep(1.1)
        outcome = await session.call("s__hang")
        assert isinstance(outcome, ToolFailure)
        assert outcome.kind == "timeout"

    _run(fleet, body)


def test_a_tools_own_errors_open_no_breaker(fleet: Fleet) -> None:
    """An answer is an answer, also when it says that the tool failed."""

    async def fail(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("no", is_error=True)

    server = _one(fleet, {"fail": fail})
    fleet.settings = attrs.evolve(fleet.settings, breaker_failures=2)

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        for _ in range(6):
            assert isinstance(await session.call("s__fail"), ToolResult)

    _run(fleet, body)
    assert len(server.calls) == 6


def test_one_death_is_one_failure(fleet: Fleet) -> None:
    """A connection that dies under many calls does not open the breaker by itself."""
    gone = asyncio.Event()
    fleet.settings = attrs.evolve(fleet.settings, breaker_failures=3)

    async def die(arguments: Mapping[str, Any]) -> ToolFailure:
        await gone.wait()
        server.connections[-1].alive = False
        return ToolFailure(kind="connection_lost", message="it died", text="t")

    server = _one(fleet, {"die": die, "now": _ok}, retry="never")

    async def body(runtime: Runtime) -> None:
        session = runtime.session()
        calls = [asyncio.create_task(session.call("s__die")) for _ in range(8)]
        await _until(lambda: len(server.calls) == 8)
        gone.set()
        assert not any(outcome.ok for outcome in await asyncio.gather(*calls))
        assert (await session.call("s__now")).ok

    _run(fleet, body)


async def _ok(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("ok")


def test_closing_gives_calls_a_short_grace(fleet: Fleet) -> None:
    """A call that ends soon ends well; one that does not is ended, and says why; waiting ones are refused at once."""
    busy, hanging = Busy(), Busy()
    _one(fleet, {"work": busy, "hang": hanging}, max_concurrent=2)

    async def run() -> None:
        runtime = fleet.open()
        session = runtime.session()
        soon, never = (asyncio.create_task(session.call(name)) for name in ("s__work", "s__hang"))
        await _until(lambda: busy.now and hanging.now)
        waiting = asyncio.create_task(session.call("s__work"))
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(runtime.close())
        refused = await waiting
        assert isinstance(refused, ToolFailure)
        assert (refused.kind, refused.message) == ("cancelled", "the runtime is closed")
        busy.release.set()
        assert (await soon).text == "done"
        await closing
        ended = await never
        assert isinstance(ended, ToolFailure)
        assert (ended.kind, ended.message) == (
            "cancelled",
            "the runtime was closed during the call; it may have taken effect",
        )
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert fleet.servers["s"].open == 0


def test_a_list_that_hangs_delays_neither_calls_nor_the_end(fleet: Fleet) -> None:
    """A listed server is compared in the background: its calls go on, and closing ends the comparison."""
    server = _one(fleet, timeout_s=1e6)

    async def body(runtime: Runtime) -> None:
        server.list_gate = asyncio.Event()
        session = runtime.session()
        assert (await session.call("s__now")).ok
        await _until(lambda: server.lists)
        assert (await session.call("s__now")).ok

    _run(fleet, body)


@pytest.mark.parametrize("times", [1, 3])
def test_a_host_that_is_cancelled_leaves_nothing_behind(fleet: Fleet, times: int) -> None:
    """However often the host's task is cancelled, also while it closes: no task and no connection stays."""
    busy = Busy()
    server = _one(fleet, {"work": busy})

    async def host() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await asyncio.gather(*(session.call("s__work") for _ in range(3)))

    async def run() -> None:
        task = asyncio.create_task(host())
        await _until(lambda: busy.now == 3)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert server.open == 0

    asyncio.run(run())


def test_an_event_loop_that_ends_closes_what_is_open(fleet: Fleet) -> None:
    """A loop that cancels every task, as `asyncio.run` does at its end, still gets its connections closed."""
    server = _one(fleet, {"work": Busy()})

    async def host() -> None:
        async with fleet.open() as runtime:
            await runtime.session().call("s__work")

    async def run() -> None:
        asyncio.create_task(host())  # noqa: RUF006  # the case is a task without an owner
        await _until(lambda: server.calls)

    asyncio.run(run())
    assert server.open == 0


def test_a_cancelled_call_is_told_to_observers(fleet: Fleet) -> None:
    """A call that the host gives up is audited like any other."""
    busy = Busy()
    _one(fleet, {"work": busy})

    async def body(runtime: Runtime) -> None:
        call = asyncio.create_task(runtime.session().call("s__work"))
        await _until(lambda: busy.now == 1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    _run(fleet, body)
    assert fleet.finished == [("supervisor", "s", "work", False)]


def test_a_thousand_calls_over_eight_servers(fleet: Fleet) -> None:
    """No call is lost and no answer goes to another call: each brings its own nonce back."""
    for number in range(8):
        fleet.server(f"s{number}", {"echo": _echo}, max_connections=2, max_concurrent=16)
    fleet.agent(proxy=True)
    begun = time.monotonic()

    async def body(runtime: Runtime) -> None:
        session = runtime.session()

        async def one(number: int) -> bool:
            nonce = f"{number}-{begun}"
            return (await session.call(f"s{number % 8}__echo", {"text": nonce})).text == nonce

        assert all(await asyncio.gather(*map(one, range(1000))))

    _run(fleet, body)
    assert sum(len(server.calls) for server in fleet.servers.values()) == 1000


async def _echo(arguments: Mapping[str, Any]) -> ToolResult:
    await asyncio.sleep(0)
    return ToolResult.of_text(str(arguments["text"]))
