"""The laws of active sets over several sessions: limits, servers, tools, the block's prefix, the same every time."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from octoc.runtime import Session
from octoc.tokens import APPROXIMATE
from tests.runtime.conftest import SCHEMA, Fleet

MAX_ACTIVE = 3
# Capabilities that share servers and tools; `huge` never fits, `wide` fits with few others, `deps` has no server.
GRANTS = {
    "one": ("a/x",),
    "two": ("a/x", "a/y"),
    "three": ("b/x", "c/x"),
    "wide": ("c/y", "b/y"),
    "huge": ("d/x", "d/y"),
    "kept": ("b/y",),
    "deps": (),
}
NAMES = sorted(GRANTS)
TOOLS = [f"{server}/{tool}" for server in "abcd" for tool in "xy"]
BASE = {"e/x"}


def _schema(tool: str) -> dict[str, Any]:
    padding = {"c/y": 700, "d/x": 3000}.get(tool, 40)
    return {**SCHEMA, "description": "." * padding}


def _cost(tool: str) -> int:
    server, name = tool.split("/")
    shown = {"name": f"{server}__{name}", "description": f"{name} of {server}", "input_schema": _schema(tool)}
    return APPROXIMATE.count(json.dumps(shown, separators=(",", ":")))


MAX_TOKENS = _cost("c/y") + 3 * _cost("a/x") + 10


def _tokens(names: Sequence[str]) -> int:
    return sum(_cost(tool) for tool in {tool for name in names for tool in GRANTS[name]})


def _fleet(fleet: Fleet) -> Fleet:
    for server in "abcde":
        fleet.server(server, ["x", "y"], schemas={tool: _schema(f"{server}/{tool}") for tool in "xy"})
    for name, tools in GRANTS.items():
        servers = dict.fromkeys(tool[0] for tool in tools)
        grants = (fleet.grant(server, *(tool[2:] for tool in tools if tool[0] == server)) for server in servers)
        fleet.capability(name, *grants, deps=() if tools else ("org/tool",), triggers=(name,))
    fleet.settings = attrs.evolve(
        fleet.settings,
        max_active=MAX_ACTIVE,
        max_active_tokens=MAX_TOKENS,
        kept=("kept",),
        deps="never",
        breaker_failures=0,
    )
    fleet.agent(direct=fleet.index("e/x"))
    return fleet


@attrs.define
class Talk:
    """A session beside what it should be: its active names, the oldest use first, what it keeps, and the last block."""

    session: Session
    used: list[str] = attrs.field(factory=list)
    kept: set[str] = attrs.field(factory=lambda: {"kept"})
    block: list[str] = attrs.field(factory=list)

    def room_for(self, name: str) -> list[str] | None:
        """Return the capabilities to evict; None when no eviction makes room."""
        loose = [one for one in self.used if one not in self.kept]
        for count in range(len(loose) + 1):
            left = [one for one in self.used if one not in loose[:count]] + [name]
            if len(left) <= MAX_ACTIVE and _tokens(left) <= MAX_TOKENS:
                return loose[:count]
        return None


class ActiveSets(RuleBasedStateMachine):
    """Up to three sessions of one runtime, against a model of a few lines."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self.fleet = _fleet(Fleet(Path(self._folder.name)))
        self.talks: list[Talk] = []

    @initialize()
    def begin(self) -> None:
        self.runtime = self.fleet.open()
        self.opened()

    @rule()
    @precondition(lambda self: len(self.talks) < 3)
    def opened(self) -> None:
        talk = Talk(self.runtime.session())
        talk.block = _texts(talk.session)
        self.talks.append(talk)

    @rule(who=st.integers(0, 2))
    @precondition(lambda self: len(self.talks) > 1)
    def closed(self, who: int) -> None:
        talk = self.talks.pop(who % len(self.talks))
        self._run(talk.session.close())
        assert talk.session.capabilities == ()

    @rule(who=st.integers(0, 2), name=st.sampled_from(NAMES))
    def activate(self, who: int, name: str) -> None:
        talk = self.talks[who % len(self.talks)]
        down = self._down(name)
        text = self._run(talk.session.activate(name))
        if name in talk.used:
            assert text == f"Capability '{name}' is already active."
            return
        gone = talk.room_for(name)
        assert (gone is not None and not down) == text.startswith(f"Capability '{name}' enabled.")
        if gone is None or down:
            return
        if not gone:
            # Only appended: what was there is still there, byte by byte.
            now = _texts(talk.session)
            assert now[: len(talk.block)] == talk.block
            talk.block = now
        talk.used = [one for one in talk.used if one not in gone] + [name]
        if gone:
            self._keeps_what_stands_before(talk)

    @rule(who=st.integers(0, 2), name=st.sampled_from(NAMES))
    def deactivate(self, who: int, name: str) -> None:
        talk = self.talks[who % len(self.talks)]
        self._run(talk.session.deactivate(name))
        self._run(talk.session.deactivate(name))
        if name in talk.used:
            talk.used.remove(name)
            self._keeps_what_stands_before(talk)

    @rule(who=st.integers(0, 2), tool=st.sampled_from(TOOLS))
    def call(self, who: int, tool: str) -> None:
        talk = self.talks[who % len(self.talks)]
        owners = [name for name in talk.used if tool in GRANTS[name]]
        outcome = self._run(talk.session.call(tool))
        assert outcome.ok == bool(owners)
        if outcome.ok:
            talk.used.sort(key=lambda name: name in owners)

    @rule(who=st.integers(0, 2), name=st.sampled_from(NAMES), keep=st.booleans())
    def keep(self, who: int, name: str, keep: bool) -> None:
        talk = self.talks[who % len(self.talks)]
        (talk.session.keep if keep else talk.session.stop_keeping)(name)
        (talk.kept.add if keep else talk.kept.discard)(name)
        assert set(talk.session.kept) == talk.kept

    @rule(who=st.integers(0, 2))
    def message(self, who: int) -> None:
        self._run(self.talks[who % len(self.talks)].session.on_user_message("about nothing here at all"))

    @rule(server=st.sampled_from("abc"), broken=st.booleans())
    def failing(self, server: str, broken: bool) -> None:
        self.fleet.servers[server].broken = "down" if broken else None

    @invariant()
    def laws(self) -> None:
        self._run(_closings())
        for talk in self.talks:
            assert set(talk.session.capabilities) == set(talk.used)
            assert len(talk.used) <= MAX_ACTIVE
            assert _tokens(talk.used) <= MAX_TOKENS
            shown = {tool["name"].replace("__", "/") for tool in talk.session.tools("mcp")} - {"capability"}
            assert shown == BASE.union(*(GRANTS[name] for name in talk.used))
            assert _texts(talk.session) == talk.block
        needed = {tool[0] for talk in self.talks for name in talk.used for tool in GRANTS[name]}
        for server in "abcd":
            assert self.fleet.servers[server].open == (server in needed), server

    def teardown(self) -> None:
        self._run(self.runtime.close())
        assert all(server.open == 0 for server in self.fleet.servers.values())
        self._runner.close()
        self._folder.cleanup()

    def _down(self, name: str) -> bool:
        needed = (self.fleet.servers[tool[0]] for tool in GRANTS[name])
        return any(server.broken is not None and not server.open for server in needed)

    def _keeps_what_stands_before(self, talk: Talk) -> None:
        now = _texts(talk.session)
        gone = next((place for place, text in enumerate(talk.block) if text not in now), len(talk.block))
        assert now[:gone] == talk.block[:gone]
        talk.block = now

    def _run(self, work: Any) -> Any:
        return self._runner.run(work)


def _texts(session: Session) -> list[str]:
    return [json.dumps(tool) for tool in session.tools()]


async def _closings() -> None:
    """Run the loop until the servers that an eviction or a failure released have closed."""
    for _ in range(5):
        await asyncio.sleep(0)


ActiveSets.TestCase.settings = settings(max_examples=60, stateful_step_count=30)


class TestActiveSets(ActiveSets.TestCase):  # type: ignore[misc,valid-type]  # made at run time
    """Within the limits by least use; a server runs iff needed; a tool is there iff owned; activations append."""


STEPS = st.lists(
    st.tuples(st.sampled_from(["activate", "deactivate", "keep", "call"]), st.sampled_from(NAMES)), max_size=20
)


@settings(max_examples=20)
@given(steps=STEPS)
def test_the_same_steps_give_the_same_bytes(new_fleet: Callable[[], Fleet], steps: list[tuple[str, str]]) -> None:
    """Two runs of the same steps say the same words, show the same bytes and report the same prefix."""

    async def run() -> list[Any]:
        trace: list[Any] = []
        async with _fleet(new_fleet()).open() as runtime:
            session = runtime.session()
            for step, name in steps:
                if step == "call":
                    outcomes = [(await session.call(tool)).ok for tool in GRANTS[name]]
                    trace.append(outcomes)
                else:
                    said = getattr(session, step)(name)
                    trace.append(said if isinstance(said, str) else await said)
                trace.append((_texts(session), session.capabilities, session.cache_report()))
        return trace

    assert asyncio.run(run()) == asyncio.run(run())


@settings(max_examples=20)
@given(wishes=st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES)), min_size=2, max_size=8))
def test_wishes_at_the_same_time_keep_the_limits(
    new_fleet: Callable[[], Fleet], wishes: list[tuple[bool, str]]
) -> None:
    """Whatever is switched at the same time, limits hold, a server runs iff needed, and each wish has an answer."""
    fleet = _fleet(new_fleet())

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            switch = (session.activate(name) if on else session.deactivate(name) for on, name in wishes)
            texts = await asyncio.gather(*switch)
            await _closings()
            assert all(texts)
            active = session.capabilities
            assert len(active) <= MAX_ACTIVE
            assert _tokens(active) <= MAX_TOKENS
            needed = {tool[0] for name in active for tool in GRANTS[name]}
            assert {name for name in "abcd" if fleet.servers[name].open} == needed
            assert all(fleet.servers[name].open <= 1 for name in "abcd")

    asyncio.run(run())


def test_the_limits_are_such_that_both_matter() -> None:
    """The token limit refuses one capability and parts two others, and three small ones meet the count first."""
    assert _tokens(["huge"]) > MAX_TOKENS
    assert _tokens(["wide"]) <= MAX_TOKENS < _tokens(["wide", "two", "three"])
    assert _tokens(["one", "two", "three"]) <= MAX_TOKENS
    with pytest.raises(StopIteration):
        next(tool for tool in BASE if any(tool in tools for tools in GRANTS.values()))
