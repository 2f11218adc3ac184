"""The tool block as a prompt cache sees it: the same bytes from turn to turn, and a report of what stays."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable

import attrs

from octoc.bundle.model import Grant
from octoc.runtime import Session
from octoc.tokens import APPROXIMATE
from tests.runtime.conftest import SCHEMA, Fleet


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # the server sends no event to wait for
            await asyncio.sleep(0.001)


def _texts(session: Session) -> list[str]:
    return [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in session.tools()]


def _names(session: Session) -> list[str]:
    return [tool["name"] for tool in session.tools()]


def _fleet(fleet: Fleet) -> Fleet:
    """A direct tool, capabilities with servers that are listed, and one whose server is not."""
    for name in ("base", "a", "b", "c"):
        fleet.server(name, ["x", "y"])
    fleet.server("live", ["get", "put"], listed=False)
    for name in ("a", "b", "c"):
        fleet.capability(name, fleet.grant(name), triggers=(f"message for {name}",))
    fleet.capability("live", fleet.grant("live"), triggers=("something lively",))
    fleet.settings = attrs.evolve(fleet.settings, max_active=2)
    fleet.agent(direct=fleet.index("base/x"))
    return fleet


async def _listed_anew(fleet: Fleet, server: str) -> None:
    live = fleet.servers[server]
    listed = live.lists
    assert live.host is not None
    assert live.host.tools_changed is not None
    live.host.tools_changed(server)
    await _until(lambda: live.lists > listed)
    await asyncio.sleep(0)


def test_the_block_is_the_same_from_turn_to_turn(fleet: Fleet) -> None:
    """Messages that activate nothing, calls, searches and other sessions leave every byte as it is."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session, other = runtime.session(), runtime.session()
            await session.activate("b")
            before = _texts(session)
            for _ in range(3):
                await session.on_user_message("about nothing here at all")
                assert (await session.call("b/y")).ok
                await other.activate("live")
                session.search("x")
                assert _texts(session) == before
                await other.deactivate("live")

    asyncio.run(run())


def test_what_a_server_changes_waits_for_the_next_message(fleet: Fleet) -> None:
    """Within a turn new tools are appended, and changed and withdrawn ones stay as shown; a message brings the news."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session()
            await session.activate("live")
            await session.activate("a")
            before = _texts(session)
            live = fleet.servers["live"]
            live.extra["get"] = {"description": "gets more than before"}
            live.tools["post"] = live.tools.pop("put")
            await _listed_anew(fleet, "live")
            await _until(lambda: "live__post" in _names(session))
            assert _texts(session)[: len(before)] == before
            assert _names(session)[len(before) :] == ["live__post"]
            assert (await session.call("live__put")).ok is False
            await session.on_user_message("about nothing here at all")
            assert _names(session) == ["capability", "base__x", "live__get", "a__x", "a__y", "live__post"]
            assert "gets more than before" in _texts(session)[2]
            assert _texts(session)[:2] == before[:2]

    asyncio.run(run())


def test_the_same_list_in_another_order_changes_no_byte(fleet: Fleet) -> None:
    """A server that lists the same tools anew, in another order and with other order of keys, changes nothing."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session()
            await session.activate("live")
            before = _texts(session)
            live = fleet.servers["live"]
            live.tools = dict(reversed(live.tools.items()))
            live.schemas = {"get": dict(reversed(SCHEMA.items()))}
            await _listed_anew(fleet, "live")
            await session.on_user_message("about nothing here at all")
            assert _texts(session) == before

    asyncio.run(run())


def test_a_reload_keeps_the_order(fleet: Fleet, new_fleet: Callable[[], Fleet]) -> None:
    """A new bundle with the same tools, and others before them, leaves the bytes of those that were shown."""
    newer = new_fleet()
    newer.server("another", ["x"])
    newer.capability("another", newer.grant("another"))
    _fleet(newer)

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session()
            for name in ("c", "a", "c"):
                await session.activate(name)
            await session.deactivate("c")
            await session.activate("c")
            before = _texts(session)
            await runtime.reload(newer.write())
            await session.on_user_message("about nothing here at all")
            assert session.state.loaded is runtime.state.current
            assert _texts(session) == before
            await session.deactivate("a")
            assert _names(session) == ["capability", "base__x", "c__x", "c__y"]

    asyncio.run(run())


def test_the_report_counts_what_is_sent(fleet: Fleet) -> None:
    """Sizes are those of the block's own JSON, the digest is its own, and each figure comes true when it is done."""

    async def run() -> None:
        async with _fleet(fleet).open() as runtime:
            session = runtime.session()
            await session.activate("a")
            await session.activate("b")
            texts, report = _texts(session), session.cache_report()
            whole = f"[{','.join(texts)}]"
            assert report.digest == hashlib.sha256(whole.encode()).hexdigest()
            # Each tool with the bracket or comma before it; the closing bracket belongs to none of them.
            assert report.block.bytes == len(whole.encode()) - 1
            assert report.block.tokens == sum(APPROXIMATE.count(text) for text in texts)
            assert (report.block.tools, report.stable.tools) == (6, 2)
            assert {name: size.tools for name, size in report.breaks.items()} == {"a": 2, "b": 4}
            told = {activation.capability: activation for activation in report.activations}
            assert sorted(told) == ["c", "live"]
            assert told["live"].unknown == ("live",)
            assert (told["c"].evicts, told["c"].keeps.tools, told["c"].unknown) == (("a",), 2, ())
            await session.activate("c")
            after = _texts(session)
            kept = told["c"].keeps
            assert after[: kept.tools] == texts[: kept.tools]
            assert after[kept.tools] != texts[kept.tools]
            assert len("".join(f"[{text}" for text in texts[: kept.tools]).encode()) == kept.bytes
            added = session.cache_report().block
            assert added.tools == 6
            assert told["c"].appends.bytes == sum(len(f",{text}".encode()) for text in after[4:])

    asyncio.run(run())


def test_a_report_changes_and_connects_nothing(fleet: Fleet) -> None:
    """Asking twice gives the same answer, and no server was started for it."""
    _fleet(fleet)
    fleet.agent("unlisted", unlisted_direct=(Grant(server="live", globs=("*",)),))

    async def run() -> None:
        async with fleet.open() as runtime:
            for name in ("supervisor", "unlisted"):
                session = runtime.session(name)
                assert session.cache_report() == session.cache_report()
            assert not runtime.state.current.pool.servers

    asyncio.run(run())
    assert all(server.connects == 0 for server in fleet.servers.values())


def test_what_is_refused_is_told_before(fleet: Fleet) -> None:
    """A capability that the limits would refuse is reported as such, with what it would have appended."""
    _fleet(fleet)
    fleet.settings = attrs.evolve(fleet.settings, max_active_tokens=1)

    async def run() -> None:
        async with fleet.open() as runtime:
            (told, *_) = runtime.session().cache_report().activations
            assert (told.capability, told.evicts) == ("a", None)
            assert told.appends.tokens > 1

    asyncio.run(run())


def test_a_tool_that_only_changes_its_owner_stays_where_it_is(fleet: Fleet) -> None:
    """When a tool moves from an evicted capability to a new one, the block changes after it, as the report states."""
    fleet.server("s", ["x", "y", "z"])
    fleet.capability("old", fleet.grant("s", "x", "y"))
    fleet.capability("new", fleet.grant("s", "x", "z"))
    fleet.settings = attrs.evolve(fleet.settings, max_active=1)
    fleet.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("old")
            before = _texts(session)
            (told,) = session.cache_report().activations
            await session.activate("new")
            assert _names(session) == ["capability", "s__x", "s__z"]
            assert _texts(session)[:2] == before[:2]
            assert (told.evicts, told.keeps.tools, told.appends.tools) == (("old",), 2, 1)

    asyncio.run(run())
