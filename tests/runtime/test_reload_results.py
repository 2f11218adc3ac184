"""A reload that takes a tool away ends the results of it that were kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import Grant, ResultSettings
from octoc.results import ToolFailure, ToolResult
from tests.runtime.conftest import Fleet, NextFleet

if TYPE_CHECKING:
    from octoc.runtime import Session


def test_kept_results_of_a_tool_go_with_the_tool(fleet: Fleet, next_fleet: NextFleet) -> None:
    """What a removed tool gave is read no more, neither of calls before nor of one that ends after the reload."""
    release = asyncio.Event()

    async def long(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("long " * 500)

    async def slow(arguments: Mapping[str, Any]) -> ToolResult:
        await release.wait()
        return ToolResult.of_text("slow " * 500)

    second = next_fleet()
    for one in (fleet, second):
        one.settings = attrs.evolve(one.settings, results=ResultSettings(max_chars=600))
        one.server("a", {"stays": long, "goes": long, "late": slow})
        one.server("joins", {"stays": long, "goes": long}, listed=False)
    unlisted = (Grant(server="joins", globs=("*",)),)
    fleet.agent(proxy=True, unlisted=unlisted)
    narrow = (Grant(server="joins", globs=("stays",)),)
    second.agent(proxy=True, tools=second.index("a/stays"), unlisted=narrow)

    async def run() -> None:
        async with fleet.open() as runtime:
            session, other = runtime.session(), runtime.session()
            await session.connect_unlisted()

            async def readable(outcome: ToolResult | ToolFailure, by: Session = session) -> bool:
                assert isinstance(outcome, ToolResult)
                assert outcome.handle is not None
                return (await by.call("read_result", {"handle": outcome.handle})).ok

            names = ("a__stays", "a__goes", "joins__stays", "joins__goes")
            kept = {name: await session.call(name) for name in names}
            others = await other.call("a__goes")
            old = [{"role": "user", "content": "a"}, *_turn("1", "a__stays"), *_turn("2", "a__goes"), *_FILLER]
            aged = session.age(old).handles
            under_way = asyncio.create_task(session.call("a__late"))
            await fleet.servers["a"].busy.wait()
            assert all([await readable(outcome) for outcome in kept.values()])
            await runtime.reload(second.write())
            await session.renew()
            release.set()
            assert [name for name in names if await readable(kept[name])] == ["a__stays", "joins__stays"]
            assert not await readable(await under_way)
            read = [(await session.call("read_result", {"handle": aged[number]})).ok for number in ("1", "2")]
            assert read == [True, False]
            assert await readable(others, other)  # it still follows the bundle that has the tool

    asyncio.run(run())


_FILLER = [{"role": role, "content": "more"} for _ in range(6) for role in ("user", "assistant")]


def _turn(number: str, name: str) -> list[dict[str, Any]]:
    """Return a call and its long result as Anthropic's messages."""
    use = {"type": "tool_use", "id": number, "name": name, "input": {}}
    result = {"type": "tool_result", "tool_use_id": number, "content": "old " * 2000}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
