"""The law of shares: random operations of several accounts on what they share.

No account takes more than the rule of `octoc.runtime.shares` allows, none loses what is within its equal part, and
nothing stays behind when everything has been released.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from octoc.runtime.results.store import ENTRY_OVERHEAD, ResultStore, Shelf
from octoc.runtime.servers.concurrency import Places
from octoc.runtime.servers.tool_breakers import ToolBreakers, ToolKey
from octoc.runtime.servers.unreachable import UnreachableError, unreachable

ACCOUNTS = "abcd"
GREEDY = st.sampled_from("aaaabbcd")
"""Accounts of which one asks most often."""
FAILURES = 2
OPEN_S = 30.0
Turn = tuple[str, str]
"""An account, and whether it enters, leaves or gives up."""
Text = tuple[str, int]
"""An account that keeps so many bytes; 0 removes its oldest text, a negative number reads it."""
Ended = tuple[str, str, bool]
"""Account, tool, and whether the tool answered."""


def bookkeeping(thing: object) -> dict[str, Any]:
    """Return all that an object counts and keeps."""
    return {name: kept for name, kept in vars(thing).items() if isinstance(kept, int | dict)}


def may(held: int, free: int) -> bool:
    """Tell whether an account may take one more: its first, or at most three for each that then stays free."""
    return free > 0 and (held == 0 or (held + 1) / 3 <= free - 1)


def check_loser(held: Mapping[str, int], loser: str, asking: str, size: int, limit: int) -> None:
    """Assert that the account which lost had more than its equal part, with what it asked for itself."""
    accounts = {account for account, units in held.items() if units} | {asking}
    units = held.get(loser, 0) + (size if loser == asking else 0)
    assert units * len(accounts) > limit, f"{loser} lost with {units} of {limit} among {len(accounts)}"


async def places_are_shared(limit: int, queue: int, turns: Sequence[Turn]) -> None:
    """Assert the rule of what cannot be taken back for places of running calls, and for the queue before them."""
    places = Places("s", limit, lambda: True)
    running, waiting = Counter[str](), defaultdict[str, OrderedDict[asyncio.Task[None], None]](OrderedDict)
    for account, what in turns:
        held, queued = +running, sum(map(len, waiting.values()))
        if what == "leave" and running[account]:
            places.leave(account)
            running[account] -= 1
        elif what == "give up" and waiting[account]:
            waiting[account].popitem(last=False)[0].cancel()
        elif what == "enter":
            waiting[account][asyncio.create_task(places.enter(account))] = None
        for _ in range(4):
            await asyncio.sleep(0)
        granted = 0
        for who, tasks in waiting.items():
            for task in [task for task in tasks if task.done()]:
                del tasks[task]
                if task.exception() is None:
                    running[who] += 1
                    granted += 1
                else:
                    assert what == "enter"
                    assert not may(len(tasks), queue - queued), f"{who} could have waited"
        free = limit - running.total()
        assert places.taken == running.total() <= limit
        assert sum(map(len, waiting.values())) <= queue
        for who, tasks in waiting.items():
            assert not tasks or not may(running[who], free), f"{who} waits with {running[who]}, {free} are free"
            # What others were given in the same step may have been free when this one was given its place.
            assert running[who] <= max(1, held[who], 3 * (free + granted - 1))
    left = [task for tasks in waiting.values() for task in tasks]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for account in running.elements():
        places.leave(account)
    assert bookkeeping(places) == bookkeeping(Places("s", limit))


def check_places(limit: int, queue: int, turns: Sequence[Turn]) -> None:
    """Assert the rule for places with a queue of so many turns."""
    with patch("octoc.runtime.servers.concurrency.MAX_WAITING", queue):
        asyncio.run(places_are_shared(limit, queue, turns))


TURNS: Sequence[Turn] = [
    *[("a", "enter")] * 12,
    ("b", "enter"),
    ("c", "enter"),
    ("b", "leave"),
    ("a", "leave"),
    ("d", "enter"),
    ("a", "give up"),
]


@example(limit=8, queue=6, turns=TURNS)
@given(
    limit=st.integers(1, 12),
    queue=st.integers(1, 12),
    turns=st.lists(
        st.tuples(GREEDY, st.sampled_from(["enter", "enter", "enter", "leave", "leave", "give up"])), max_size=60
    ),
)
def test_places_and_their_queue_leave_room_for_others(limit: int, queue: int, turns: Sequence[Turn]) -> None:
    """A place that an account may take is never kept from it, and one account leaves places and turns to others."""
    check_places(limit, queue, turns)


def check_shelf(limit: int, texts: Sequence[Text]) -> None:
    """Assert the rule of what can be taken back for a shelf of kept texts."""
    shelf, kept = Shelf(limit), defaultdict[str, OrderedDict[str, int]](OrderedDict)
    held = Counter[str]()

    def remove(account: str, handle: str) -> None:
        shelf.remove(account, handle)
        held[account] -= kept[account].pop(handle)

    for number, (account, size) in enumerate(texts):
        if size <= 0:
            oldest = next(iter(kept[account]), None)
            if oldest is not None and size < 0:
                shelf.touch(account, oldest)
                kept[account].move_to_end(oldest)
            elif oldest is not None:
                remove(account, oldest)
            continue
        if size > limit:
            continue
        try:
            while (handle := shelf.next_out(account, size)) is not None:
                loser = next(who for who, handles in kept.items() if handle in handles)
                assert handle == next(iter(kept[loser])), "it is not the text that was not used for longest"
                check_loser(held, loser, account, size, limit)
                remove(loser, handle)
        except LookupError:
            check_loser(held, account, account, size, limit)
            continue
        shelf.add(account, f"r-{number}", size)
        kept[account][f"r-{number}"] = size
        held[account] += size
        assert shelf.used == held.total() <= limit
    for account, handles in kept.items():
        for handle in list(handles):
            remove(account, handle)
    assert bookkeeping(shelf) == bookkeeping(Shelf(limit))


TEXTS: Sequence[Text] = [("b", 10), *[("a", 12)] * 8, ("c", 20), ("a", -1), ("b", 15), ("a", 12), ("c", 0), ("d", 30)]
KEPT = st.lists(st.tuples(GREEDY, st.integers(-5, 60)), max_size=60)


@example(limit=100, texts=TEXTS)
@given(limit=st.integers(1, 100), texts=KEPT)
def test_a_kept_text_goes_only_from_an_account_above_its_part(limit: int, texts: Sequence[Text]) -> None:
    """A text is dropped from an account above its equal part, the least recently used first."""
    check_shelf(limit, texts)


def check_store(memory: int, disk: int, texts: Sequence[Text]) -> None:
    """Assert that an account which keeps no more than its part of the memory can read all that it keeps."""
    memory, disk = memory * ENTRY_OVERHEAD, disk * ENTRY_OVERHEAD
    store = ResultStore(memory_bytes=memory, disk_bytes=disk, seconds=60, clock=lambda: 0.0)
    used, handles = Counter[str](), defaultdict[str, dict[str, str]](dict)
    try:
        for number, (account, size) in enumerate(texts):
            text = f"{number}".ljust(abs(size) * ENTRY_OVERHEAD // 8)
            handle = store.keep(account, text, account=account)
            used[account] += len(text) + ENTRY_OVERHEAD
            if handle is not None:
                handles[account][handle] = text
            modest = used[account] * len(ACCOUNTS) <= memory
            assert handle is not None or not modest, f"{account} keeps {used[account]} of {memory}, and one was refused"
            assert store.memory.used <= memory
            assert store.disk.used <= disk
        for account, texts_of in handles.items():
            for handle, text in texts_of.items():
                read = [store.text(who, handle) for who in ACCOUNTS]
                assert all(one is None for who, one in zip(ACCOUNTS, read, strict=True) if who != account)
                own = store.text(account, handle)
                assert own in (None, text)
                assert own is not None or used[account] * len(ACCOUNTS) > memory, f"{account} lost a text"
        for account in ACCOUNTS:
            store.forget(account)
        assert (store.memory.used, store.disk.used) == (0, 0)
        fresh = ResultStore(memory_bytes=memory, disk_bytes=disk, seconds=60, clock=lambda: 0.0)
        assert bookkeeping(store) == bookkeeping(fresh)
    finally:
        store.close()


@example(memory=16, disk=0, texts=[("b", 4), *[("a", 8)] * 20])
@example(memory=16, disk=16, texts=[("b", 4), *[("a", 8)] * 20])
@given(memory=st.integers(0, 40), disk=st.sampled_from((0, 0, 8, 40)), texts=KEPT)
def test_results_within_the_part_of_an_account_stay_readable(memory: int, disk: int, texts: Sequence[Text]) -> None:
    """Whatever others keep, in memory and on disk; no handle is of use to another, and nothing stays behind."""
    check_store(memory, disk, texts)


def check_breakers(most: int, calls: Sequence[Ended]) -> None:
    """Assert that only an account's own failures refuse its calls, and that breakers within its part are kept."""
    with patch("octoc.runtime.servers.tool_breakers.MAX_BREAKERS", most):
        _check_breakers(most, calls)


def _check_breakers(most: int, calls: Sequence[Ended]) -> None:
    now = 0.0
    breakers = ToolBreakers("s", FAILURES, OPEN_S, lambda: now)
    failures, above = Counter[ToolKey](), set[str]()
    for account, tool, answered in calls:
        key = ToolKey(account, tool)
        try:
            admission = breakers.admit(key)
        except UnreachableError:
            assert failures[key] >= FAILURES, f"{key} is refused after {failures[key]} failures"
            continue
        assert failures[key] < FAILURES or account in above, f"{key} is not refused after {failures[key]} failures"
        breakers.ended(key, admission, "worked" if answered else "failed")
        failures[key] = 0 if answered else failures[key] + 1
        own = sum(1 for one, number in failures.items() if number and one.account == account)
        if own * len(ACCOUNTS) > most:
            above.add(account)
        assert len(breakers) <= most
    now = 2 * OPEN_S
    for key in failures:
        breakers.ended(key, breakers.admit(key), "worked")
    assert bookkeeping(breakers) == bookkeeping(ToolBreakers("s", FAILURES, OPEN_S))


FAILED: Sequence[Ended] = [
    *[("b", "pay", False)] * 2,
    *[("a", tool, False) for tool in "123456789"],
    ("b", "pay", False),
    ("c", "pay", True),
    *[("a", "1", True)] * 2,
]


@example(most=8, calls=FAILED)
@given(
    most=st.integers(1, 12),
    calls=st.lists(st.tuples(GREEDY, st.sampled_from("123456"), st.sampled_from((False, False, True))), max_size=60),
)
def test_breakers_of_tools_are_an_accounts_own(most: int, calls: Sequence[Ended]) -> None:
    """Another account's failures neither refuse a call nor make octoc forget failures within an equal part."""
    check_breakers(most, calls)


def _as_many_as_are_free(_held: int, free: int) -> bool:
    return free > 0


def _two_free(_held: int, free: int) -> bool:
    return free > 1


def _anybody_else(held: Mapping[str, int], asking: str) -> str:
    return next((account for account in reversed(list(held)) if account != asking and held[account]), asking)


def _for_all(breakers: ToolBreakers, key: ToolKey) -> None:
    for one, breaker in breakers._kept.items():
        if one.tool == key.tool and breaker.failures >= FAILURES:
            raise unreachable("unavailable", "refused")


BROKEN: dict[str, tuple[str, Any, Any]] = {
    "what stays free of places": (
        "octoc.runtime.servers.concurrency.may_take",
        _as_many_as_are_free,
        partial(check_places, 8, 99, TURNS),
    ),
    "that a newcomer gets a place": (
        "octoc.runtime.servers.concurrency.may_take",
        _two_free,
        partial(check_places, 3, 9, TURNS),
    ),
    "which text goes": (
        "octoc.runtime.results.store.account_to_evict",
        _anybody_else,
        partial(check_shelf, 100, TEXTS),
    ),
    "which result goes": (
        "octoc.runtime.results.store.account_to_evict",
        _anybody_else,
        partial(check_store, 16, 0, [("b", 4), *[("a", 8)] * 20]),
    ),
    "which breaker goes": (
        "octoc.runtime.servers.tool_breakers.account_to_evict",
        _anybody_else,
        partial(check_breakers, 8, FAILED),
    ),
    "whose breaker it is": (
        "octoc.runtime.servers.tool_breakers.ToolBreakers.check",
        _for_all,
        partial(check_breakers, 8, FAILED),
    ),
}


@pytest.mark.parametrize("check", BROKEN)
def test_without_a_check_the_law_of_shares_does_not_hold(monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    """Each of them is needed; with it, the same operations keep the law."""
    name, instead, law = BROKEN[check]
    law()
    monkeypatch.setattr(name, instead)
    with pytest.raises(AssertionError):
        law()
