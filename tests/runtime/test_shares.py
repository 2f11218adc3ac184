"""Accounts share limits: no account takes everything, none below an equal part loses anything."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from octoc.results import Caller, ToolResult
from octoc.runtime import Runtime
from octoc.runtime.servers.concurrency import Places
from octoc.runtime.servers.unreachable import UnreachableError
from octoc.runtime.shares import NO_ACCOUNT, Accounts, account_of, account_to_evict, may_take
from tests.runtime.conftest import Fleet


@pytest.mark.parametrize("limit", range(2, 40))
def test_accounts_that_take_all_they_may_leave_room_for_another(limit: int) -> None:
    """After one account has taken all that it may, each of the next accounts still finds a free unit."""
    free, held = limit, Counter[int]()
    while may_take(held[0], free):
        held[0] += 1
        free -= 1
    assert free >= 1
    assert held[0] >= limit // 2
    for account in range(1, free + 1):
        assert may_take(held[account], free)
        held[account] += 1
        free -= 1
    assert not may_take(0, free)


def test_a_single_unit_goes_to_the_first_account_that_asks() -> None:
    """A limit of one unit has nothing to share."""
    assert may_take(0, 1)
    assert not may_take(1, 1)


def test_the_account_that_holds_most_loses_first() -> None:
    """An account below the equal part of a full limit never loses its place to another account."""
    for held in itertools.product(range(5), repeat=3):
        by_name = dict(zip("abc", held, strict=True))
        if not sum(held):
            continue
        for asking in "abcd":
            loser = account_to_evict(by_name, asking)
            assert loser == asking or by_name[loser] == max(held)
            assert loser == asking or by_name[loser] > by_name.get(asking, 0)


def test_an_account_is_the_tenant_or_what_the_host_names() -> None:
    """All callers of a tenant are one account, and a host's name is never taken for a tenant's."""
    assert account_of(Caller(tenant="a", account="t1")) == account_of(Caller(tenant="a", user="u"))
    assert account_of(Caller(account="a")) != account_of(Caller(tenant="a"))
    assert account_of(Caller()) == NO_ACCOUNT


def test_limits_are_shared_from_the_second_account_on() -> None:
    """One account alone may use everything."""
    accounts = Accounts()
    accounts.note("a")
    accounts.note("a")
    assert not accounts.shared
    accounts.note("b")
    assert accounts.shared


def test_waiting_accounts_take_turns() -> None:
    """An account's call with a short queue does not wait for the whole queue of another account."""

    async def body() -> None:
        places, order = Places("s", 1, lambda: True), list[str]()

        async def call(account: str) -> None:
            await places.enter(account)
            order.append(account)

        await places.enter("a")
        calls = [asyncio.create_task(call(account)) for account in "aaaabc"]
        await asyncio.sleep(0)
        for account in "aabcaa":
            places.leave(account)
            await asyncio.sleep(0)
        await asyncio.gather(*calls)
        assert "".join(order) == "abcaaa"

    asyncio.run(asyncio.wait_for(body(), 60))


def test_one_account_does_not_fill_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another account's call may still wait when one account has as many waiting calls as it may have."""
    monkeypatch.setattr("octoc.runtime.servers.concurrency.MAX_WAITING", 8)

    async def body() -> None:
        places = Places("s", 1, lambda: True)
        await places.enter("a")
        waiting = [asyncio.create_task(places.enter("a")) for _ in range(6)]
        await asyncio.sleep(0)
        with pytest.raises(UnreachableError, match="busy"):
            await places.enter("a")
        other = asyncio.create_task(places.enter("b"))
        await asyncio.sleep(0)
        assert not other.done()
        places.end()
        await asyncio.gather(other, *waiting, return_exceptions=True)

    asyncio.run(asyncio.wait_for(body(), 60))


class Slow:
    """A tool that ends when it is released; `reached` is set when `expected` calls run."""

    def __init__(self, expected: int) -> None:
        self.release = asyncio.Event()
        self.reached = asyncio.Event()
        self.running = 0
        self._expected = expected

    async def __call__(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.running += 1
        if self.running == self._expected:
            self.reached.set()
        await self.release.wait()
        return ToolResult.of_text("done")


async def quick(arguments: Mapping[str, Any]) -> ToolResult:
    """Answer at once."""
    return ToolResult.of_text("quick")


def test_slow_calls_of_one_tenant_leave_places_to_another(fleet: Fleet) -> None:
    """With 160 calls of one tenant at a server, each call of another tenant runs at once."""
    slow = Slow(6)
    fleet.server("s", {"slow": slow, "quick": quick}, max_concurrent=8)
    fleet.agent(proxy=True)

    async def body() -> None:
        async with fleet.open() as runtime:
            hostile, other = runtime.session(tenant="hostile"), runtime.session(tenant="other")
            calls = [asyncio.create_task(hostile.call("s__slow")) for _ in range(160)]
            await slow.reached.wait()
            for _ in range(20):
                assert (await other.call("s__quick")).ok
            assert slow.running == 6
            slow.release.set()
            assert all(outcome.ok for outcome in await asyncio.gather(*calls))
            assert runtime.state.current.pool["s"].places.taken == 0

    asyncio.run(asyncio.wait_for(body(), 60))


def test_an_account_alone_uses_every_place(fleet: Fleet) -> None:
    """A runtime without tenants runs as many calls at once as the server allows."""
    slow = Slow(8)
    fleet.server("s", {"slow": slow}, max_concurrent=8)
    fleet.agent(proxy=True)

    async def body() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            calls = [asyncio.create_task(session.call("s__slow")) for _ in range(9)]
            await slow.reached.wait()
            slow.release.set()
            await asyncio.gather(*calls)

    asyncio.run(asyncio.wait_for(body(), 60))


def test_a_caller_of_another_tenant_makes_the_limits_shared(fleet: Fleet) -> None:
    """A session whose calls name their own tenants is more than one account."""
    fleet.server("s", {"quick": quick})
    fleet.agent(proxy=True)

    async def body(runtime: Runtime) -> None:
        session = runtime.session(tenant="a")
        assert (await session.call("s__quick")).ok
        alone = runtime.accounts.shared
        assert (await session.call("s__quick", caller=Caller(tenant="b"))).ok
        assert (alone, runtime.accounts.shared) == (False, True)
        await runtime.close()

    asyncio.run(asyncio.wait_for(body(fleet.open()), 60))
