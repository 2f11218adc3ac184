"""Servers that change their tools while sessions run: drift of recorded ones, new tools of the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from octoc.bundle.model import Grant
from octoc.results import ToolResult
from tests.runtime.conftest import Fleet

if TYPE_CHECKING:
    from octoc.runtime import Session
    from tests.runtime.conftest import Server


def _names(session: Session) -> set[str]:
    own = {"capability", "read_result", "find_tools", "call_mcp_tool"}
    return {tool["name"] for tool in session.tools("mcp")} - own


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # conditions of all kinds, none of which tells
            await asyncio.sleep(0.001)


def _listed_and_changed(server: Server) -> None:
    async def fresh(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("fresh")

    del server.tools["gone"]
    server.tools["new"] = fresh
    server.extra["kept"] = {"description": "says something else"}


def test_drift_of_a_listed_server_is_told_and_the_registry_stays(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    """What was added is not offered, what is gone is answered at once, and each change is logged once."""
    server = fleet.server("s", ["kept", "gone"])
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            assert (await session.call("s__kept")).ok
            await _until(lambda: server.lists == 1)
            assert not runtime.drift("s")
            before = {hit.tool for hit in session.search("s kept gone new")}
            _listed_and_changed(server)
            assert server.host is not None
            assert server.host.tools_changed is not None
            for lists in (2, 3):
                server.host.tools_changed("s")
                await _until(lambda lists=lists: server.lists == lists)  # type: ignore[misc]
            await _until(lambda: runtime.drift("s"))
            drift = runtime.drift("s")
            assert (drift.added, drift.removed, drift.changed) == (("new",), ("gone",), ("kept",))
            calls = len(server.calls)
            outcome = await session.call("s__gone")
            assert (outcome.ok, len(server.calls)) == (False, calls)
            assert "server `s` no longer has `gone`" in outcome.text
            assert (await session.call("s__kept")).ok
            assert {hit.tool for hit in session.search("s kept gone new")} == before
            assert not (await session.call("s__new")).ok

    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        asyncio.run(run())
    told = [record.getMessage() for record in caplog.records if "not what the bundle was built with" in record.msg]
    assert len(told) == 1
    assert "added `new`; removed `gone`; changed `kept`" in told[0]


def test_a_listed_server_is_compared_at_its_first_connection(fleet: Fleet) -> None:
    """The first call is not delayed by it, and a server that cannot list is left in peace."""
    server = fleet.server("s", ["kept", "gone"])
    other = fleet.server("mute", ["x"])
    other.unlistable = True
    fleet.agent(proxy=True)
    _listed_and_changed(server)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            assert (await session.call("s__kept")).ok
            assert (await session.call("mute__x")).ok
            await _until(lambda: runtime.drift("s"))
            await _until(lambda: other.lists)
            assert runtime.drift("s").removed == ("gone",)
            assert not runtime.drift("mute")
            assert (await session.call("mute__x")).ok

    asyncio.run(run())


def test_new_tools_of_an_unlisted_server_are_shown_by_its_grants(fleet: Fleet) -> None:
    """A storm of notices lists the server a few times; what grants leave joins, what is gone goes, the host hears."""
    server = fleet.server("s", ["get_a", "put_a"], listed=False)
    fleet.agent(unlisted_direct=(Grant(server="s", globs=("get_*",)),))
    heard: list[str] = []

    async def run() -> None:
        from octoc.plugin import Host

        async with fleet.open(host=Host(tools_changed=heard.append)) as runtime:
            session = runtime.session()
            await session.connect_unlisted()
            assert _names(session) == {"s__get_a"}
            server.tools["get_b"] = server.tools["put_b"] = server.tools.pop("get_a")
            assert server.host is not None
            assert server.host.tools_changed is not None
            for _ in range(200):
                server.host.tools_changed("s")
                await asyncio.sleep(0.001)
            # What is new is appended at once; what is gone goes with the next message.
            await _until(lambda: _names(session) == {"s__get_a", "s__get_b"})
            await session.on_user_message("and now the other one")
            assert _names(session) == {"s__get_b"}
            assert (await session.call("s__get_b")).ok
            assert not (await session.call("s__get_a")).ok
            listed = server.lists
            assert listed <= 4
            server.unlistable = True
            server.host.tools_changed("s")
            await _until(lambda: server.lists > listed)
            assert _names(session) == {"s__get_b"}

    asyncio.run(run())
    assert heard == ["s"] * 201
