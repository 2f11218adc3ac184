"""What tenants share on one server: places for calls, and connections on which a server asks its callers."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, example, given, settings

from octoc.plugin import Host, ServerTarget
from octoc.results import ToolCall, ToolFailure, ToolResult
from octoc.runtime import Session

from .fleets import Facts, ServerFacts
from .looks import Line, World, build, opened
from .random_fleets import fleets
from .test_law import EXAMPLES, FACTS

MANY = 40
"""More calls than a server runs at once."""
TURNS = 100
"""Turns of the loop in which calls come as far as they can."""
PATIENCE_S = 60.0
"""How long a call may take beside slow calls of others, which last until it is over."""


@attrs.define(eq=False)
class Shared(World):
    """Servers that ask, and hang as the arguments of a call say; each keeps who has used its connections."""

    asking: set[str] = attrs.field(factory=set)
    lines: list[SharedLine] = attrs.field(factory=list)
    gate: asyncio.Event = attrs.field(factory=asyncio.Event)

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Line:
        facts = self.facts.servers.get(target.name, ServerFacts(tools=()))
        self.lines.append(SharedLine(target.name, facts, world=self))
        return self.lines[-1]


@attrs.define
class SharedLine(Line):
    """A connection, and the tenants that have used it since its server asked."""

    world: Shared = attrs.field(kw_only=True)
    asks: bool = False
    asked: set[str | None] = attrs.field(factory=set)

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        self.asks = self.asks or self.name in self.world.asking
        if self.asks:
            self.asked.add(call.caller.tenant)
        if call.arguments.get("end") == "hang":
            await self.world.gate.wait()
        return await Line.call(self, call)


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _tools(session: Session) -> list[str]:
    return [str(session.state.loaded.catalog[number].id) for number in session.state.tools.reachable()]


def _servers(session: Session) -> frozenset[str]:
    return frozenset(tool.partition("/")[0] for tool in _tools(session))


async def places_and_connections(facts: Facts, bundle: Path, world: Shared, root: Path) -> None:
    """Assert that one tenant's slow calls stop no other's, and that a server which asks has one connection of each."""
    tenants = {name: facts.tenant_of(name) for name in facts.agents}
    for agent, other in _of_two_tenants(facts):
        world.gate = asyncio.Event()
        world.lines.clear()
        async with opened(bundle, world, root) as runtime:
            mine, theirs = (runtime.session(name, tenant=tenants[name]) for name in (agent, other))
            await mine.connect_unlisted()
            await theirs.connect_unlisted()
            for server in _servers(mine) & _servers(theirs):
                tool, slow = (
                    next(one for one in _tools(session) if one.startswith(f"{server}/")) for session in (mine, theirs)
                )
                for asking in (False, True):
                    world.asking = {server} if asking else set()
                    assert (await mine.call(tool, {})).ok
                    assert (await theirs.call(slow, {})).ok
                    hostile = [asyncio.create_task(theirs.call(slow, {"end": "hang"})) for _ in range(MANY)]
                    await _turns()
                    call = asyncio.create_task(mine.call(tool, {}))
                    await asyncio.wait({call}, timeout=PATIENCE_S)
                    assert call.done(), f"a call of {agent} waits for those of {other} on {server}"
                    world.gate.set()
                    assert all(one.ok for one in await asyncio.gather(call, *hostile))
                    world.gate.clear()
            assert all(len(line.asked) <= 1 for line in world.lines[1:] if line.asks), "a question could be another's"


def _of_two_tenants(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield pairs of agents whose sessions are of different tenants."""
    for agent in facts.agents:
        for other in facts.agents:
            if facts.tenant_of(agent) != facts.tenant_of(other):
                yield agent, other


def _hold(facts: Facts, root: Path) -> None:
    facts = attrs.evolve(facts, encoder=False)
    bundle, _ = build(facts, root)
    asyncio.run(places_and_connections(facts, bundle, Shared(facts), root))


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@example(facts=FACTS)
@given(facts=fleets())
def test_a_tenant_keeps_its_share_and_its_questions(facts: Facts) -> None:
    """Slow calls of one tenant leave places to others, and no two tenants share a connection that asks."""
    with tempfile.TemporaryDirectory() as root:
        _hold(facts, Path(root))


BROKEN: dict[str, tuple[str, Any]] = {
    "connections of a server that asks": (
        "octoc.runtime.servers.server_pool.divided",
        lambda opened, *_, **__: ([one for one in opened if one.connection.alive], []),
    ),
    "places of an account": (
        "octoc.runtime.servers.concurrency.Places._may_run",
        lambda self, _: self._limit > self.taken,
    ),
}


@pytest.mark.parametrize("check", BROKEN)
def test_without_a_check_a_neighbour_is_felt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    """Each of them, switched off alone, lets one tenant's calls reach another's."""
    monkeypatch.setattr(*BROKEN[check])
    monkeypatch.setattr(sys.modules[__name__], "PATIENCE_S", 2.0)
    with pytest.raises(AssertionError):
        _hold(FACTS, tmp_path)
