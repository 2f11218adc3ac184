"""The active set: its laws on random histories of two sessions, and what may not happen when a server fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.runtime.activation.active_set import ActiveSet, References
from octoc.runtime.activation.eviction import evictions

if TYPE_CHECKING:
    from octoc.runtime import Runtime, Session
    from tests.runtime.conftest import Fleet

SERVERS = ("a", "b", "c", "d")
# Capabilities that share servers, and tools of one server, in several ways; `boot` is granted to the agent `booted`.
GRANTS = {
    "one": [("a", "x")],
    "two": [("a", "*")],
    "three": [("b", "*"), ("c", "x")],
    "four": [("c", "y")],
    "five": [("a", "y"), ("c", "*")],
    "deps": [],
    "boot": [("d", "x")],
}
NAMES = [name for name in GRANTS if name != "boot"]
STEPS = st.one_of(
    st.tuples(st.sampled_from(["enable", "disable"]), st.integers(0, 1), st.sampled_from(NAMES)),
    st.tuples(
        st.just("call"),
        st.integers(0, 1),
        st.sampled_from([f"{server}/{tool}" for server in SERVERS for tool in "xy"]),
    ),
    st.tuples(st.sampled_from(["break", "repair", "kill"]), st.just(0), st.sampled_from(SERVERS)),
)


def _fleet(fleet: Fleet) -> Fleet:
    for name in SERVERS:
        fleet.server(name, ["x", "y"])
    for name, grants in GRANTS.items():
        deps = () if grants else ("org/tool",)
        fleet.capability(name, *(fleet.grant(server, glob) for server, glob in grants), deps=deps)
    fleet.settings = attrs.evolve(fleet.settings, max_active=2)
    fleet.agent("booted", capabilities=tuple(sorted(NAMES)), boot=("boot",))
    return fleet


def _tools_of(name: str) -> set[str]:
    return {f"{server}/{tool}" for server, glob in GRANTS[name] for tool in "xy" if glob in ("*", tool)}


class World:
    """Two sessions of one runtime beside the model of what they should be: their active names, the oldest use first."""

    def __init__(self, fleet: Fleet, runtime: Runtime) -> None:
        self.servers = fleet.servers
        self.sessions = [runtime.session("booted"), runtime.session("booted")]
        self.used: list[list[str]] = [[], []]

    async def take(self, step: str, who: int, what: str) -> None:
        """Do one step in the runtime and in the model."""
        if step in ("break", "repair"):
            self.servers[what].broken = "down" if step == "break" else None
        elif step == "kill":
            for link in self.servers[what].connections:
                link.killed = link.killed or link.alive
                link.alive = False
        else:
            await getattr(self, step)(self.sessions[who], self.used[who], what)

    async def enable(self, session: Session, used: list[str], name: str) -> None:
        down = [server for server, _ in GRANTS[name] if self._is_down(server)]
        await session.activate(name)
        if name not in used and not down:
            used.append(name)
            del used[:-2]

    async def disable(self, session: Session, used: list[str], name: str) -> None:
        await session.deactivate(name)
        if name in used:
            used.remove(name)

    async def call(self, session: Session, used: list[str], tool: str) -> None:
        down = self._is_down(tool[0])
        outcome = await session.call(tool, {})
        owners = [name for name in used if tool in _tools_of(name)]
        assert outcome.ok == (bool(owners or tool in _tools_of("boot")) and not down)
        if outcome.ok:
            used.sort(key=lambda name: name in owners)

    def _is_down(self, server: str) -> bool:
        return self.servers[server].broken is not None and not any(c.alive for c in self.servers[server].connections)

    async def closings(self) -> None:
        """Run the loop until the servers that an eviction or a failure released have closed."""
        for _ in range(5):
            await asyncio.sleep(0)

    def check(self) -> None:
        """Hold the runtime to the model."""
        for session, active in zip(self.sessions, self.used, strict=True):
            assert set(session.capabilities) == set(active)
            assert len(active) <= 2
            shown = {tool["name"].replace("__", "/") for tool in session.tools("mcp")} - {"capability"}
            assert shown == _tools_of("boot").union(*(_tools_of(name) for name in active))
        needed = {server for active in self.used for name in active for server, _ in GRANTS[name]}
        for name in ("a", "b", "c"):
            # A server that died stays needed, and is connected again by the next use.
            died = any(link.killed for link in self.servers[name].connections[-1:])
            assert self.servers[name].open == 1 if name in needed and not died else self.servers[name].open <= 1
            assert name in needed or self.servers[name].open == 0


@settings(max_examples=60)
@given(steps=st.lists(STEPS, max_size=25))
def test_the_laws_of_the_active_set(new_fleet: Callable[[], Fleet], steps: list[tuple[str, int, str]]) -> None:
    """At most max_active are active, by least recent use; servers are open iff needed; tools are there iff owned."""
    fleet = _fleet(new_fleet())

    async def run() -> None:
        async with fleet.open() as runtime:
            world = World(fleet, runtime)
            for step in steps:
                await world.take(*step)
                await world.closings()
                world.check()

    asyncio.run(run())
    assert all(server.open == 0 for server in fleet.servers.values())


def test_a_server_that_fails_costs_no_eviction(fleet: Fleet) -> None:
    """When one of a capability's servers does not start, nothing is activated, nothing evicted, nothing left open."""
    _fleet(fleet).servers["c"].broken = "down"

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session("booted")
            await session.activate("one")
            await session.activate("two")
            text = await session.activate("three")
            assert text == "Capability 'three' could not be activated: server 'c': down"
            assert session.capabilities == ("one", "two")
            assert runtime.state.current.pool.servers == ("a",)

    asyncio.run(run())
    assert fleet.servers["b"].closes == fleet.servers["b"].connects


def test_an_eviction_is_logged(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    """The log says what was evicted, and how many servers that closed."""
    caplog.set_level(logging.INFO, "octoc.runtime")

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session("booted")
            for name in ("three", "one", "two", "four"):
                await session.activate(name)

    asyncio.run(run())
    assert caplog.messages == [
        "capability LRU evicted: 'three' (2 server(s) disabled to make room)",
        "capability LRU evicted: 'one' (0 server(s) disabled to make room)",
    ]


def test_a_failed_call_does_not_count_as_use(fleet: Fleet) -> None:
    """Only a call that succeeded keeps a capability from being the next to go."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session("booted")
            await session.activate("one")
            await session.activate("four")
            fleet.servers["a"].broken = "down"
            fleet.servers["a"].connections[0].alive = False
            assert not (await session.call("a/x")).ok
            await session.activate("deps")
            assert session.capabilities == ("four", "deps")

    asyncio.run(run())


def test_a_session_that_is_gone_needs_nothing(fleet: Fleet) -> None:
    """A closed session, or one that the host has dropped, releases its servers."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            closed, dropped, stays = (runtime.session("booted") for _ in range(3))
            for session in (closed, dropped, stays):
                await session.activate("one")
            await closed.close()
            assert closed.capabilities == ()
            holders = [(one.state.number, "one") for one in (closed, dropped, stays)]
            references = runtime.state.references
            assert [references.servers_of([holder]) for holder in holders] == [frozenset(), {"a"}, {"a"}]
            del session, dropped
            assert [references.servers_of([holder]) for holder in holders] == [frozenset(), frozenset(), {"a"}]
            await stays.close()
            assert not runtime.state.current.pool.servers

    asyncio.run(run())


def test_the_proxy_keeps_a_server_that_it_reached(fleet: Fleet) -> None:
    """A server that a session reached through the proxy outlives the capability that it also belongs to."""
    fleet.server("a", ["x", "y"])
    fleet.capability("one", fleet.grant("a", "x"))
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("one")
            assert (await session.call("call_mcp_tool", {"tool_name": "a/y"})).ok
            await session.deactivate("one")
            assert runtime.state.current.pool.servers == ("a",)
            await session.close()
            assert not runtime.state.current.pool.servers

    asyncio.run(run())


def test_the_clock_orders_use_and_a_counter_breaks_ties() -> None:
    """The least recently used by the clock is evicted first; at the same time, the one used first."""
    now = 0.0
    active = ActiveSet(3, lambda: now)

    def evicted() -> tuple[str, ...] | None:
        return evictions(active, ("new",), lambda _: True)

    for name in ("a", "b", "c"):
        active.add(name)
    assert evicted() == ("a",)
    active.touch(["a"])
    assert evicted() == ("b",)
    now = 5.0
    active.touch(["b", "unknown"])
    assert evicted() == ("c",)


def test_a_full_set_takes_no_more() -> None:
    """Adding beyond the capacity, or twice, is an error of the caller."""
    active = ActiveSet(1, lambda: 0.0)
    active.add("a")
    for name in ("a", "b"):
        with pytest.raises(ValueError, match="room for 1"):
            active.add(name)


def test_references_count_holders_once() -> None:
    """A holder's second hold replaces its first, and a second release has no effect."""
    references = References()
    references.hold("x", ["s", "t"])
    references.hold("x", ["s"])
    references.hold("y", ["s"])
    assert not references.is_needed("t")
    assert references.release("x") == frozenset()
    assert references.release("x") == frozenset()
    assert references.release("y") == {"s"}
    assert not references.is_needed("s")
