"""One account's backlog of work has one piece under way at a time."""

from __future__ import annotations

import asyncio

from octoc_serve.turns import Turns


def test_accounts_work_side_by_side_and_one_account_in_order() -> None:
    """A piece of work waits for those of its own account alone, and nothing is remembered when all have ended."""

    async def scenario() -> None:
        turns, done, release = Turns(), list[str](), asyncio.Event()

        async def work(account: str, name: str, *, waits: bool = False) -> None:
            async with turns.turn(account):
                if waits:
                    await release.wait()
                done.append(name)

        first = asyncio.create_task(work("a", "a1", waits=True))
        await asyncio.sleep(0)
        others = [asyncio.create_task(work("a", name)) for name in ("a2", "a3", "a4")]
        await asyncio.sleep(0)
        await work("b", "b1")
        others[1].cancel()
        assert done == ["b1"]
        release.set()
        await asyncio.gather(first, *others, return_exceptions=True)
        assert done == ["b1", "a1", "a2", "a4"]
        assert len(turns) == 0

    asyncio.run(asyncio.wait_for(scenario(), 60))
