"""Another bundle under running sessions: swapped at once, followed at the next message, refused without harm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

import octoc.runtime.arguments.refusal
from octoc.bundle.model import Grant, ResultSettings, Settings
from octoc.bundle.refusal import BundleFileError
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import UnknownNameError
from octoc.runtime.tools.search import SearchParts
from tests.runtime.conftest import Fleet, NextFleet

if TYPE_CHECKING:
    from octoc.runtime import Session


def _names(session: Session) -> set[str]:
    own = {"capability", "read_result", "find_tools", "call_mcp_tool"}
    return {tool["name"] for tool in session.tools("mcp")} - own


def _next(old: Fleet, new: Fleet) -> Fleet:
    """Let the new fleet's servers be the old ones, where they have the same name."""
    old.servers.update({name: server for name, server in new.servers.items() if name not in old.servers})
    return new


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # conditions of all kinds, none of which tells
            await asyncio.sleep(0.001)


def test_a_session_follows_at_its_next_message(fleet: Fleet, next_fleet: NextFleet) -> None:
    """Until then it sees and calls what it had; then its active capabilities are those that still exist."""
    for one in (fleet, second := next_fleet()):
        one.server("a", ["x"])
        one.capability("keeps", one.grant("a"))
    fleet.server("b", ["y"])
    fleet.capability("goes", fleet.grant("b"))
    second.server("c", ["z"])
    second.capability("comes", second.grant("c"))
    fleet.agent()
    second.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("keeps")
            await session.activate("goes")
            _next(fleet, second)
            old = runtime.state.current
            await runtime.reload(second.write())
            assert _names(session) == {"a__x", "b__y"}
            assert (await session.call("b__y")).ok
            assert runtime.session().state.tools.switchable == ("comes", "keeps")
            await session.on_user_message("hello")
            assert session.state.loaded is runtime.state.current is not old
            assert (session.capabilities, _names(session)) == (("keeps",), {"a__x"})
            assert (await session.call("a__x")).ok
            await session.activate("comes")
            assert (await session.call("c__z")).ok
            assert runtime.state.older == []
            await _until(lambda: fleet.servers["b"].open == 0)
            assert fleet.servers["a"].connects == 1

    asyncio.run(run())
    assert all(server.open == 0 for server in fleet.servers.values())


def test_a_call_that_is_judged_while_a_session_follows_goes_to_its_own_tool(
    fleet: Fleet, next_fleet: NextFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next bundle has another tool by the number that the called one had: the name decides, and not the number."""
    for one, tools in ((fleet, ["x"]), (second := next_fleet(), ["w", "x"])):
        one.server("a", tools)
        one.capability("keeps", one.grant("a"))
        one.agent()
    judged = octoc.runtime.arguments.refusal.refusal

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("keeps")
            fleet.servers["a"].tools.update(second.servers["a"].tools)
            followed: list[bool] = []

            async def judging(*given: Any, **more: Any) -> ToolFailure | None:
                if not followed:
                    followed.append(True)
                    await runtime.reload(second.write())
                    await session.renew()
                    return None  # they fit
                return await judged(*given, **more)

            monkeypatch.setattr(octoc.runtime.arguments.refusal, "refusal", judging)
            assert (await session.call("a__x")).ok
            assert followed
            assert [call.tool for call in fleet.servers["a"].calls] == ["x"]

    asyncio.run(run())


def test_a_search_during_which_a_session_follows_shows_no_other_tool(
    fleet: Fleet, next_fleet: NextFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found by number in the bundle before is not read by number in the next: the search is made again."""
    for one, tools in ((fleet, ["wanted"]), (second := next_fleet(), ["hidden", "wanted"])):
        one.server("a", tools, schemas={tool: {"type": "object", "title": tool} for tool in tools})
        one.agent(proxy=True, tools=(len(tools) - 1,))
    searched = SearchParts.rank

    async def run() -> None:
        async with fleet.open() as runtime:
            session, loop = runtime.session(), asyncio.get_running_loop()
            followed: list[bool] = []

            async def follow() -> None:
                await runtime.reload(second.write())
                await session.renew()

            def looking(*given: Any) -> Any:
                found = searched(*given)
                if not followed:
                    followed.append(True)
                    asyncio.run_coroutine_threadsafe(follow(), loop).result(30)
                return found

            monkeypatch.setattr(SearchParts, "encodes", True)
            monkeypatch.setattr(SearchParts, "rank", looking)
            answer = await session.call("find_tools", {"query": "wanted"})
            assert isinstance(answer, ToolResult)
            assert followed
            assert "hidden" not in answer.text
            assert "wanted" in answer.text

    asyncio.run(run())


def test_a_session_follows_without_a_message_when_it_is_told(fleet: Fleet, next_fleet: NextFleet) -> None:
    """`renew` goes over at once, keeps what is active, and does nothing where there is nothing new."""
    for one in (fleet, second := next_fleet()):
        one.server("a", ["x"])
        one.capability("keeps", one.grant("a"))
        one.agent()
    second.server("c", ["z"])
    second.capability("comes", second.grant("c"))
    second.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("keeps")
            _next(fleet, second)
            await runtime.reload(second.write())
            assert session.state.loaded is not runtime.state.current
            await session.renew()
            assert session.state.loaded is runtime.state.current
            assert (session.capabilities, runtime.state.older) == (("keeps",), [])
            assert session.state.tools.switchable == ("comes", "keeps")
            surface = session.state.tools
            await session.renew()
            assert session.state.tools is surface

    asyncio.run(run())


@pytest.mark.parametrize(
    "changed, connects",
    [
        ({"include": ("x",)}, 1),
        ({"retry": "never", "trusted": True}, 1),
        ({"args": ("--verbose",)}, 2),
        ({"definition": "other"}, 2),
        ({"timeout_s": 7.0}, 2),
        ({"max_connections": 2}, 2),
    ],
)
def test_connections_stay_where_nothing_of_them_changed(
    fleet: Fleet, next_fleet: NextFleet, changed: dict[str, Any], connects: int
) -> None:
    """What is decided per call or per list keeps the connection; what reaches the server makes a new one."""
    server = fleet.server("a", ["x"])
    second = next_fleet()
    second.server("a", ["x"], **changed)
    fleet.agent(proxy=True)
    second.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            assert (await runtime.session().call("a__x")).ok
            await runtime.reload(second.write())
            assert (await runtime.session().call("a__x")).ok
            assert server.connects == connects

    asyncio.run(run())
    assert server.open == 0


def test_a_bundle_that_is_refused_changes_nothing(fleet: Fleet, tmp_path: Path) -> None:
    """The caller gets the reason, and everything goes on with the old bundle."""
    server = fleet.server("a", ["x"])
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session, old = runtime.session(), runtime.state.current
            assert (await session.call("a__x")).ok
            whole = fleet.write().read_bytes()
            damaged = tmp_path / "damaged.octoc"
            damaged.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
            for path in (damaged, tmp_path / "missing.octoc"):
                with pytest.raises(BundleFileError):
                    await runtime.reload(path)
            assert (runtime.state.current, runtime.state.older) == (old, [])
            await session.on_user_message("hello")
            assert (await session.call("a__x")).ok

    asyncio.run(run())
    assert (server.connects, server.open) == (1, 0)


def test_a_call_under_way_ends_on_the_old_bundle(fleet: Fleet, next_fleet: NextFleet) -> None:
    """A call that began before the swap gets its answer, although its session and its server went on."""
    release = asyncio.Event()

    async def slow(arguments: Mapping[str, Any]) -> ToolResult:
        await release.wait()
        return ToolResult.of_text("done")

    server = fleet.server("a", {"slow": slow})
    second = next_fleet()
    second.server("a", {"slow": slow}, args=("--new",))
    fleet.agent(proxy=True)
    second.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            call = asyncio.create_task(session.call("a__slow"))
            await _until(lambda: server.calls)
            await runtime.reload(second.write())
            await session.on_user_message("hello")
            assert (runtime.state.older, server.open) == ([], 1)
            release.set()
            assert (await call).text == "done"
            await _until(lambda: server.open == 0)

    asyncio.run(run())


def test_an_agent_that_is_gone_makes_no_further_call(fleet: Fleet, next_fleet: NextFleet) -> None:
    """A call under way ends; the next is refused, and the next message, as a new session is; then nothing is left."""
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(_: Mapping[str, Any]) -> ToolResult:
        begun.set()
        await gate.wait()
        return ToolResult.of_text("done")

    server = fleet.server("a", {"x": slow})
    fleet.capability("cap", fleet.grant("a"))
    fleet.agent(proxy=True)
    fleet.agent("old", proxy=True, capabilities=("cap",))
    second = next_fleet()
    second.server("a", ["x"])
    second.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session("old")
            await session.activate("cap")
            under_way = asyncio.create_task(session.call("a__x"))
            await begun.wait()
            await runtime.reload(second.write())
            for name in ("a__x", "find_tools", "capability", "no_such"):
                refused = await session.call(name, {"query": "x"})
                assert isinstance(refused, ToolFailure)
                assert (refused.kind, refused.message, refused.similar) == (
                    "not_found", "agent `old` does not exist any more: a reload took it away", ()
                )  # fmt: skip
            with pytest.raises(UnknownNameError) as begun_anew:
                runtime.session("old")
            for _ in range(2):
                with pytest.raises(UnknownNameError) as told:
                    await session.on_user_message("hello")
                assert str(told.value) == str(begun_anew.value)
            assert (session.tools(), list(session.search("x")), session.capabilities) == ([], [], ())
            assert runtime.state.older == []
            gate.set()
            assert (await under_way).ok
            assert (await runtime.session().call("a__x")).ok
            await session.close()

    asyncio.run(run())
    assert (len(server.calls), server.open) == (2, 0)


def test_an_agent_that_comes_back_goes_on(fleet: Fleet, next_fleet: NextFleet) -> None:
    """A session that was refused has what a later bundle gives its agent."""
    for one in (fleet, second := next_fleet()):
        one.server("a", ["x"])
        one.agent(proxy=True)
    fleet.agent("old", proxy=True, direct=fleet.index("a/x"))

    async def run() -> None:
        first = fleet.write()
        async with fleet.open() as runtime:
            session = runtime.session("old")
            await runtime.reload(second.write())
            with pytest.raises(UnknownNameError):
                await session.renew()
            await runtime.reload(first)
            await session.renew()
            assert _names(session) == {"a__x"}
            assert (await session.call("a__x")).ok

    asyncio.run(run())


def test_tools_of_an_unlisted_server_survive(fleet: Fleet, next_fleet: NextFleet) -> None:
    """A server that stays connected need not be listed again; one that changed is connected for who has it active."""
    grants = [Grant(server="same", globs=("*",)), Grant(server="other", globs=("*",))]
    for one, args in ((fleet, ()), (second := next_fleet(), ("--new",))):
        one.server("same", ["x"], listed=False)
        one.server("other", ["y"], listed=False, args=args)
        one.capability("cap", *grants)
        one.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.activate("cap")
            await runtime.reload(second.write())
            await session.on_user_message("hello")
            assert _names(session) == {"same__x", "other__y"}
            assert (await session.call("other__y")).ok

    asyncio.run(run())
    assert (fleet.servers["same"].connects, fleet.servers["other"].connects) == (1, 2)
    assert all(server.open == 0 for server in fleet.servers.values())


def test_a_smaller_active_set_keeps_what_was_used_last(fleet: Fleet, next_fleet: NextFleet) -> None:
    """When the new bundle has room for fewer, the least recently used are evicted."""
    for one, room in ((fleet, 3), (second := next_fleet(), 2)):
        one.settings = attrs.evolve(one.settings, max_active=room)
        for name in "abc":
            one.server(name, ["x"])
            one.capability(name, one.grant(name))
        one.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            for name in "abc":
                await session.activate(name)
            assert (await session.call("a__x")).ok
            await runtime.reload(second.write())
            await session.on_user_message("hello")
            assert session.capabilities == ("a", "c")
            await _until(lambda: runtime.state.current.pool.servers == ("a", "c"))

    asyncio.run(run())


def test_sessions_that_are_let_go_free_the_old_bundle(fleet: Fleet, next_fleet: NextFleet) -> None:
    """Reload after reload, only bundles that a session uses are kept."""
    fleet.server("a", ["x"])
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            for _ in range(5):
                session = runtime.session()
                assert (await session.call("a__x")).ok
                await runtime.reload(fleet.write())
                assert runtime.state.older == [session.state.loaded]
                del session
            await runtime.reload(fleet.write())
            assert runtime.state.older == []

    asyncio.run(run())
    assert fleet.servers["a"].connects == 1


def test_a_closed_runtime_is_not_reloaded(fleet: Fleet) -> None:
    """After the end there is nothing to swap."""
    fleet.agent(proxy=True)

    async def run() -> None:
        runtime = fleet.open()
        path = fleet.write()
        await runtime.close()
        with pytest.raises(RuntimeError, match="the runtime is closed"):
            await runtime.reload(path)

    asyncio.run(run())


def test_new_settings_reach_what_outlives_a_bundle(fleet: Fleet, next_fleet: NextFleet) -> None:
    """The store of results and the breakers of servers that stay take the new bundle's sizes; connections stay."""
    long = ToolResult.of_text("x" * 5_000)

    async def give(arguments: Mapping[str, Any]) -> ToolResult:
        return long

    for one in (fleet, second := next_fleet()):
        one.server("a", {"x": give})
        one.agent(direct=(0,))
    kept = ResultSettings(max_chars=1_000, store_memory_bytes=100_000, store_disk_bytes=0)
    fleet.settings = Settings(results=kept, breaker_failures=5)
    second.settings = Settings(results=attrs.evolve(kept, store_memory_bytes=8_000), breaker_failures=1)

    async def play() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            outcomes = [await session.call("a__x") for _ in range(3)]
            handles = [outcome.handle for outcome in outcomes if isinstance(outcome, ToolResult)]
            assert runtime.state.results.memory.used > 8_000
            breaker = runtime.state.current.pool["a"].breaker
            await runtime.reload(_next(fleet, second).write())
            assert runtime.state.results.memory.used <= 8_000
            read = [runtime.state.results.parts(session.state.number, handle or "") for handle in handles]
            assert read == [None, None, 1]
            assert runtime.state.current.pool["a"].breaker is breaker
            assert fleet.servers["a"].connects == 1
            breaker.failed()
            assert breaker.state == "open"

    asyncio.run(play())
