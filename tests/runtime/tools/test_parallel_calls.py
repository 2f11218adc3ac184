"""The calls of one turn: at the same time, results in order, each for itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.results import Progress, ToolFailure, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from octoc.runtime import Session
    from tests.runtime.conftest import Fleet, Handler


class Meeting:
    """Tools that answer once as many calls as `size` are under way."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.inside = 0
        self.cancelled = 0
        self.waiting = asyncio.Event()
        self.full = asyncio.Event()

    async def meet(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.inside += 1
        if self.inside == self.size - 1:
            self.waiting.set()
        if self.inside == self.size:
            self.full.set()
        try:
            await self.full.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolResult.of_text(json.dumps(arguments))


async def _fail(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("no", is_error=True)


async def _raise(arguments: Mapping[str, Any]) -> ToolResult:
    raise KeyError("x")


async def _cancel(arguments: Mapping[str, Any]) -> ToolResult:
    raise asyncio.CancelledError


def _session(fleet: Fleet, tools: Mapping[str, Handler] | list[str]) -> Session:
    fleet.server("s", tools)
    fleet.agent(proxy=True)
    return fleet.open().session()


def test_calls_of_a_turn_run_at_the_same_time(fleet: Fleet) -> None:
    """Calls that wait for each other all end, and each result stands at its call's place."""
    meeting = Meeting(5)
    session = _session(fleet, {"meet": meeting.meet})
    outcomes = asyncio.run(session.call_all([("meet", {"text": str(number)}) for number in range(5)]))
    assert [json.loads(outcome.text) for outcome in outcomes] == [{"text": str(number)} for number in range(5)]


@settings(max_examples=20)
@given(delays=st.lists(st.integers(0, 5), max_size=6))
def test_results_are_in_the_order_of_the_calls(new_fleet: Callable[[], Fleet], delays: list[int]) -> None:
    """Whichever call ends first, result number n is that of call number n."""

    async def later(arguments: Mapping[str, Any]) -> ToolResult:
        for _ in range(arguments["turns"]):
            await asyncio.sleep(0)
        return ToolResult.of_text(arguments["text"])

    fleet = new_fleet()
    session = _session(fleet, {"later": later})
    calls = [("later", {"text": str(place), "turns": turns}) for place, turns in enumerate(delays)]
    assert [outcome.text for outcome in asyncio.run(session.call_all(calls))] == [str(i) for i in range(len(delays))]


def test_one_that_fails_leaves_the_others_alone(fleet: Fleet) -> None:
    """A tool's error, a wrong name, a transport's fault and a call that cancels itself are results like others."""

    async def say(arguments: Mapping[str, Any]) -> ToolResult:
        await asyncio.sleep(0)
        return ToolResult.of_text("said")

    session = _session(fleet, {"say": say, "fail": _fail, "raise": _raise, "cancel": _cancel})
    names = ["say", "fail", "nothing", "raise", "cancel", "say"]
    outcomes = asyncio.run(session.call_all([(name, None) for name in names]))
    assert [outcome.ok for outcome in outcomes] == [True, False, False, False, False, True]
    assert [outcome.kind for outcome in outcomes if isinstance(outcome, ToolFailure)] == [
        "not_found",
        "internal",
        "cancelled",
    ]


def test_a_bug_in_one_call_does_not_lose_the_others(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that dispatch itself raises is the failure of that call."""
    session = _session(fleet, ["a", "b"])

    async def broken(loaded: Any, index: int, arguments: Mapping[str, Any], **_: Any) -> ToolFailure | None:
        if loaded.catalog[index].id.tool == "a":
            raise ZeroDivisionError
        return None

    monkeypatch.setattr("octoc.runtime.arguments.refusal.refusal", broken)
    first, second = asyncio.run(session.call_all([("a", {}), ("b", {})]))
    assert isinstance(first, ToolFailure)
    assert (first.kind, second.ok) == ("internal", True)


def test_cancelling_a_turn_cancels_every_call(fleet: Fleet) -> None:
    """The turn is over when each of its calls is, and the session can be used on."""
    meeting = Meeting(3)
    session = _session(fleet, {"meet": meeting.meet})

    async def run() -> tuple[int, bool]:
        turn = asyncio.create_task(session.call_all([("meet", {}), ("meet", {})]))
        await meeting.waiting.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        cancelled = meeting.cancelled
        meeting.full.set()
        return cancelled, (await session.call("meet", {})).ok

    assert asyncio.run(run()) == (2, True)


def test_an_empty_turn_has_no_results(fleet: Fleet) -> None:
    """No calls, no results."""
    assert asyncio.run(_session(fleet, ["a"]).call_all([])) == []


def test_what_follows_capability_in_a_turn_sees_its_effect(fleet: Fleet) -> None:
    """`capability` waits for the calls before it, and those after it wait for it."""
    fleet.server("git", ["log"])
    fleet.capability("git", fleet.grant("git"))
    fleet.agent()
    session = fleet.open().session()
    calls: list[tuple[str, Mapping[str, Any] | None]] = [
        ("log", {}),
        ("capability", {"action": "enable", "name": "git"}),
        ("log", {}),
        ("log", {}),
        ("capability", {"action": "disable", "name": "git"}),
        ("log", {}),
    ]
    outcomes = asyncio.run(session.call_all(calls))
    assert [outcome.ok for outcome in outcomes] == [False, True, True, True, True, False]


def test_progress_says_which_call_it_is_of(fleet: Fleet) -> None:
    """Progress of parallel calls has the position of the call it belongs to."""
    server = fleet.server("s", ["a", "b"])
    fleet.agent(proxy=True)
    heard: list[tuple[int, float]] = []
    session = fleet.open().session()

    async def run() -> None:
        await session.call_all([("a", {}), ("b", {})], on_progress=lambda place, step: heard.append((place, step.done)))
        for number, call in enumerate(sorted(server.calls, key=lambda call: call.tool)):
            assert call.on_progress is not None
            call.on_progress(Progress(done=number + 0.5))

    asyncio.run(run())
    assert heard == [(0, 0.5), (1, 1.5)]
