"""The law of questions: a server that asks during a call is answered for the account of that call, or not at all.

The servers know which call they ask for, whether its caller still waits or not. Who owns the question is decided by
the claims of the real transport, and the connections are those that the pool lends.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octoc.plugin import Host, ServerTarget, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import Caller, ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc_transport_mcp.claims import ELICITATION, QUESTIONS, ROOTS, SAMPLING, Claim, Claims, Owner

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

EXAMPLES = 5 * int(os.environ.get("OCTOC_FLEETS", "8"))
LIMIT_S = 30.0
CALLERS = (
    Caller(tenant="acme", session="one"),
    Caller(tenant="acme", session="two"),
    Caller(tenant="umbrella", session="one"),
    Caller(account="token", session="one"),
    Caller(account="token"),
)
SLOTS = 6
"""How many calls a step chooses from: those that the server works on, oldest first."""
Step = tuple[str, int]
"""What happens, and the number of the caller or of the call that it happens to."""
DOING = ("call", "call", "call", "answer", "leave", *QUESTIONS, *QUESTIONS, "wait")
MAY_ASK: contextvars.ContextVar[Caller | None] = contextvars.ContextVar("may_ask", default=None)
"""What a host sets before a call: who is asked what its server asks."""


def account(caller: Caller) -> tuple[str | None, str | None]:
    """Return what keeps callers apart."""
    return caller.tenant, caller.account


@attrs.define(eq=False)
class Work:
    """A call at the server, until the server has answered it."""

    number: int
    caller: Caller
    line: Line
    answer: asyncio.Future[None]
    waits: asyncio.Task[Any] | None = None
    left: bool = False


@attrs.define(eq=False)
class Line:
    """A connection whose questions are owned as those of a real one are."""

    world: World
    claims: Claims
    alive: bool = True

    @property
    def asks(self) -> bool:
        return self.claims.asks

    @property
    def abandoned(self) -> bool:
        return self.claims.abandoned

    @property
    def stale(self) -> bool:
        return self.claims.stale

    async def list_tools(self) -> ServerListing:
        tool = ListedTool(name="pay", description="pay of bank", wire={"name": "pay", "inputSchema": {}})
        return ServerListing(server_info={}, protocol_version="1", instructions=None, tools=(tool,))

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        number = next(self.world.numbers)
        work = Work(number, call.caller, self, asyncio.get_running_loop().create_future(), asyncio.current_task())
        self.world.works[number] = work
        self.claims.open(number, Claim(call.caller))
        try:
            await asyncio.shield(work.answer)
        except asyncio.CancelledError:
            work.left = True
            self.claims.left(number)
            raise
        return ToolResult.of_text("done")

    async def close(self) -> None:
        self.alive = False
        for work in [one for one in self.world.works.values() if one.line is self]:
            del self.world.works[work.number]
            if not work.answer.done():
                work.answer.set_result(None)


@attrs.define(eq=False)
class World:
    """Servers that ask when a step says so."""

    now: float = 0.0
    numbers: itertools.count[int] = attrs.field(factory=itertools.count)
    works: OrderedDict[int, Work] = attrs.field(factory=OrderedDict)
    asked: int = 0

    @hookimpl
    def octoc_make_transport(self, kind: str) -> World | None:
        return self if kind == "stdio" else None

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Line:
        return Line(self, Claims(LIMIT_S, QUESTIONS, clock=lambda: self.now))

    async def settle(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Wait until each call that goes on is at the server."""
        for _ in range(5):
            await asyncio.sleep(0)
        while sum(not one.done() for one in tasks) > sum(not one.left for one in self.works.values()):  # noqa: ASYNC110  # a thread resolves targets
            await asyncio.sleep(0)

    def answer(self, work: Work) -> None:
        """Answer a call, also one whose caller has gone."""
        del self.works[work.number]
        work.line.claims.answered(work.number)
        work.answer.set_result(None)

    def ask(self, work: Work, method: str) -> None:
        """Ask during a call. Assert that no other account and no other conversation gets the question."""
        beside = [one for one in self.works.values() if one.line is work.line]
        work.line.claims.note_question("q", method)
        claim = work.line.claims.owner("q").claim
        conversations = {one.caller for one in beside}
        if claim is None:
            alone = len(beside) == 1
            together = len(conversations) == 1 and work.caller.session and not any(one.left for one in beside)
            assert not alone, f"{method} of {work.caller} is declined"
            assert not together, f"{method} of {work.caller} is declined beside calls of the same conversation"
            return
        self.asked += 1
        whom = claim.context.run(MAY_ASK.get)
        assert whom is not None
        assert account(whom) == account(work.caller), f"{whom} is asked what {work.caller} called for"
        assert whom == work.caller, f"{whom} is asked what another conversation called for: {work.caller}"
        # A question to a call that was given up is withdrawn; consent must not go to another call.
        assert claim.left_at is not None or not work.left or method == ROOTS, f"{whom} is asked for a call given up"


async def run(fleet: Fleet, world: World, steps: Sequence[Step]) -> None:
    """Assert the law for a sequence of steps on one server of all callers."""
    async with Runtime.open(fleet.write(), plugins=plugins_of(world), clock=lambda: world.now) as runtime:
        sessions = [runtime.session("agent", tenant=caller.tenant) for caller in CALLERS]

        async def call(number: int) -> None:
            caller = attrs.evolve(CALLERS[number], agent="agent")
            MAY_ASK.set(caller)
            await sessions[number].call("bank/pay", {}, caller=caller)

        tasks: list[asyncio.Task[None]] = []
        for what, number in steps:
            works = list(world.works.values())[:SLOTS]
            work = works[number % len(works)] if works else None
            if what == "call":
                tasks.append(asyncio.create_task(call(number % len(CALLERS))))
            elif what == "wait":
                world.now += LIMIT_S / 2
            elif work is not None and what == "answer":
                world.answer(work)
            elif work is not None and what == "leave" and work.waits is not None:
                work.waits.cancel()
            elif work is not None and what in QUESTIONS:
                world.ask(work, what)
            await world.settle(tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def hold(fleet: Fleet, steps: Sequence[Step], connections: int = 1) -> World:
    """Build a server of all callers, and assert the law."""
    world = World()
    fleet.server("bank", ["pay"], retry="never", max_concurrent=64, max_connections=connections)
    fleet.agent("agent", direct=fleet.index("bank/pay"))
    asyncio.run(run(fleet, world, steps))
    return world


ACME, UMBRELLA = 0, 2
ABANDONED: Sequence[Step] = (
    ("call", ACME),
    ("call", UMBRELLA),
    ("leave", 0),
    (ELICITATION, 0),
    (SAMPLING, 1),
    ("call", UMBRELLA),
    (ELICITATION, 0),
    ("wait", 0),
    ("wait", 0),
    ("call", ACME),
    *[(ROOTS, number) for number in range(4)],
)
TOGETHER: Sequence[Step] = (
    ("call", ACME),
    ("call", ACME),
    (ELICITATION, 0),
    ("call", 1),
    (SAMPLING, 0),
    ("answer", 0),
    ("leave", 0),
    (ELICITATION, 0),
)


@settings(max_examples=EXAMPLES)
@example(steps=ABANDONED, connections=1)
@example(steps=TOGETHER, connections=1)
@given(
    connections=st.integers(1, 2),
    steps=st.lists(
        st.tuples(st.sampled_from([*DOING[:5], *sorted(DOING[5:])]), st.integers(0, SLOTS - 1)), min_size=4, max_size=40
    ),
)
def test_no_account_is_asked_what_another_called_for(
    new_fleet: Callable[[], Fleet], steps: Sequence[Step], connections: int
) -> None:
    """Calls run side by side, are answered, given up and asked for in any order, on connections of the pool."""
    hold(new_fleet(), steps, connections)


def test_the_fixed_examples_ask(new_fleet: Callable[[], Fleet]) -> None:
    """The law is not kept by declining everything."""
    assert hold(new_fleet(), ABANDONED).asked
    assert hold(new_fleet(), TOGETHER).asked


def _forget(claims: Claims, request: Any) -> None:
    claims._open.pop(request, None)


BROKEN: dict[str, tuple[str, Any, Sequence[Step]]] = {
    "calls beside the last one": (
        "octoc_transport_mcp.claims.Claims._owner",
        lambda claims, *_: Owner(next(reversed(claims._open.values()), None)),
        ABANDONED,
    ),
    "calls that were given up": ("octoc_transport_mcp.claims.Claims.left", _forget, ABANDONED),
    "conversations": ("octoc_transport_mcp.claims._is_one_conversation", lambda _: True, TOGETHER),
}


@pytest.mark.parametrize("check", BROKEN)
def test_without_a_check_another_is_asked(
    new_fleet: Callable[[], Fleet], monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """Each of them, switched off alone, puts a question to a caller whom it does not concern."""
    name, instead, steps = BROKEN[check]
    monkeypatch.setattr(name, instead)
    with pytest.raises(AssertionError):
        hold(new_fleet(), steps)
