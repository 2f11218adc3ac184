"""A runtime's agent served by the REST host: octoc's own REST client sees and calls exactly its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.model import Grant
from octoc.bundle.organisation import Quota, TenantEntry
from octoc.names import SUPERVISOR
from octoc.plugin import Connection, ServerTarget
from octoc.plugin.manager import load_plugins
from octoc.results import ContentPart, FailureKind, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc_transport_rest.host import serve
from octoc_transport_rest.host_tools import INTERNAL, protocol_names
from octoc_transport_rest.protocol import TOOL_NAME

if TYPE_CHECKING:
    from octoc.results import Caller
    from octoc.runtime import Session
    from tests.runtime.conftest import Fleet

TOKEN = "let-me-in-please"


async def client_of(session: Session, use: Callable[[Connection], Awaitable[None]]) -> None:
    """Serve a session and connect octoc's REST client to it."""
    host = await serve(session, token=TOKEN)
    transport = load_plugins(["transport-rest"]).make_transport("rest")
    assert transport is not None
    target = ServerTarget(name="peer", transport="rest", url=host.url, auth={"type": "bearer", "token": TOKEN})
    connection = await transport.connect(target)
    try:
        await use(connection)
    finally:
        await connection.close()
        await host.close()


def asked(tool: str, caller: Caller | None = None, **arguments: Any) -> ToolCall:
    """Return a call as a transport gets it."""
    call = ToolCall(tool=tool, arguments=arguments, timeout_s=20.0)
    return call if caller is None else attrs.evolve(call, caller=caller)


def test_a_real_server_is_reached_through_both_ends(fleet: Fleet, python_server: Callable[[str], Path]) -> None:
    """REST client, REST host, runtime and a real MCP server: listed, called, and the server's own refusal relayed."""
    fleet.server("time", listed=False, command=str(python_server("mcp-server-time")))
    fleet.agent(unlisted_direct=(Grant(server="time", globs=("*",)),))

    async def use(connection: Connection) -> None:
        listing = await connection.list_tools()
        assert [tool.name for tool in listing.tools] == ["time__get_current_time", "time__convert_time"]
        assert "timezone" in listing.tools[0].wire["inputSchema"]["properties"]
        answer = await connection.call(asked("time__get_current_time", timezone="Europe/Vienna"))
        assert isinstance(answer, ToolResult)
        assert answer.structured["timezone"] == "Europe/Vienna"
        wrong = await connection.call(asked("time__get_current_time", timezone="Nowhere"))
        assert isinstance(wrong, ToolResult)
        assert wrong.is_error
        assert "Nowhere" in wrong.text
        misfit = await connection.call(asked("time__get_current_time"))
        assert isinstance(misfit, ToolResult)
        assert (misfit.structured["error"], "timezone" in misfit.text) == ("bad_request", True)

    async def play() -> None:
        async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"])) as runtime:
            session = runtime.session()
            assert await session.connect_unlisted() == {}
            await client_of(session, use)

    asyncio.run(play())


def test_an_agent_is_all_that_is_served(fleet: Fleet) -> None:
    """Names keep the protocol's rule; a tool of another agent is not there, and no name of it is hinted at."""
    fleet.server("my-Shop", ["Find-Order", "pay"])
    fleet.server("bank", ["transfer"])
    fleet.agent("clerk", tools=fleet.index("my-Shop/Find-Order"), direct=fleet.index("my-Shop/Find-Order"))

    async def use(connection: Connection) -> None:
        assert [tool.name for tool in (await connection.list_tools()).tools] == ["my_shop__find_order"]
        answer = await connection.call(asked("my_shop__find_order", text="x"))
        assert isinstance(answer, ToolResult)
        assert answer.structured is None
        near = await connection.call(asked("my_shop__find_orders"))
        assert isinstance(near, ToolResult)
        assert near.structured["hint"] == "Similar: my_shop__find_order"
        other = await connection.call(asked("bank__transfer"))
        assert isinstance(other, ToolResult)
        assert other.structured == {"error": "not_found", "message": "there is no tool `bank__transfer`"}

    async def play() -> None:
        async with fleet.open() as runtime:
            await client_of(runtime.session("clerk"), use)

    asyncio.run(play())


def test_a_call_is_made_for_the_caller_that_the_client_names(fleet: Fleet) -> None:
    """Tenant and correlation id of each request reach the server's call; a missing one is the session's.

    A client cannot replace the session's own tenant, whose quota counts.
    """
    server = fleet.server("s", ["x"])
    fleet.agent(direct=fleet.index("s/x"))
    fleet.tenants += [TenantEntry(name="acme", quota=Quota(calls=1)), TenantEntry(name="house", quota=Quota(calls=2))]

    async def use(connection: Connection) -> None:
        mine = attrs.evolve(asked("s__x").caller, tenant="acme", correlation_id="episode-7")
        await asyncio.gather(*(connection.call(asked("s__x", caller)) for caller in (mine, None)))

    async def play() -> None:
        async with fleet.open() as runtime:
            await client_of(runtime.session(tenant="house", user="u1"), use)
            await client_of(runtime.session(user="u1"), use)

    asyncio.run(play())
    seen = [(call.caller.tenant, call.caller.correlation_id) for call in server.calls]
    assert set(seen[:2]) == {("house", "episode-7"), ("house", None)}
    assert set(seen[2:]) == {("acme", "episode-7"), (None, None)}
    assert {(call.caller.agent, call.caller.user) for call in server.calls} == {(SUPERVISOR, "u1")}


KINDS: dict[FailureKind, tuple[str, str]] = {
    "unavailable": ("unavailable", "HTTP 503: slow down"),
    "timeout": ("error", "slow down; it may have taken effect"),
    "connection_lost": ("error", "slow down; it may have taken effect"),
    "unauthorized": ("error", "slow down"),
    "internal": ("error", INTERNAL),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_is_an_answer_of_the_protocol(fleet: Fleet, kind: FailureKind) -> None:
    """`error`, `message` and `retry_after` say what went wrong; what is internal stays inside."""
    expected, says = KINDS[kind]

    async def fails(arguments: Mapping[str, Any]) -> ToolFailure:
        wait = 7.2 if kind == "unavailable" else None
        return ToolFailure(kind=kind, message="slow down", text="t", retry_after_s=wait)

    fleet.server("s", {"x": fails}, retry="never")
    fleet.agent(direct=fleet.index("s/x"))

    async def use(connection: Connection) -> None:
        outcome = await connection.call(asked("s__x"))
        if isinstance(outcome, ToolFailure):
            assert (outcome.kind, outcome.retry_after_s, outcome.sent) == (expected, 8.0, False)
            assert says in outcome.message
        else:
            assert expected == "error"
            assert outcome.structured == {"error": kind, "message": says}

    async def play() -> None:
        async with fleet.open() as runtime:
            await client_of(runtime.session(), use)

    asyncio.run(play())


def test_media_and_structure_come_through(fleet: Fleet) -> None:
    """Structure is the answer where there is some; an image comes in MCP's form; a tool's error keeps its fields."""
    image = ContentPart(type="image", data={"data": "QUJD", "mimeType": "image/png"})

    def giving(result: ToolResult) -> Callable[[Mapping[str, Any]], Awaitable[ToolResult]]:
        async def give(arguments: Mapping[str, Any]) -> ToolResult:
            return result

        return give

    wrong = {"error": "no_order", "message": "no such order", "field": "id"}
    fleet.server(
        "s",
        {
            "data": giving(attrs.evolve(ToolResult.of_text("text"), structured={"a": [1]})),
            "image": giving(ToolResult(content=(image,))),
            "wrong": giving(attrs.evolve(ToolResult.of_text("no such order", is_error=True), structured=wrong)),
        },
    )
    fleet.agent(direct=fleet.index("s/data", "s/image", "s/wrong"))

    async def use(connection: Connection) -> None:
        outcomes = [await connection.call(asked(f"s__{name}")) for name in ("data", "image", "wrong")]
        data, picture, failed = (one for one in outcomes if isinstance(one, ToolResult))
        assert data.structured == {"a": [1]}
        assert picture.structured["content"] == [{"type": "image", "data": "QUJD", "mimeType": "image/png"}]
        assert (failed.is_error, failed.structured) == (True, wrong)

    async def play() -> None:
        async with fleet.open() as runtime:
            await client_of(runtime.session(), use)

    asyncio.run(play())


def test_too_many_tools_are_not_served(fleet: Fleet) -> None:
    """An agent with more tools than the protocol allows is refused at the start, with both numbers."""
    fleet.server("s", [f"t{number}" for number in range(101)])
    fleet.agent(direct=tuple(range(101)))

    async def play() -> None:
        async with fleet.open() as runtime:
            with pytest.raises(ValueError, match="101 tools are more than the 100"):
                await serve(runtime.session())

    asyncio.run(play())


@given(st.lists(st.text("aA-_1é", min_size=1, max_size=3), unique=True))
def test_names_are_never_confused(names: list[str]) -> None:
    """Each name gets one of its own that keeps the rule; one that keeps it already stays; the order changes nothing."""
    found = protocol_names(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(names)
    assert all(TOOL_NAME.fullmatch(name) for name in found.values())
    assert all(found[name] == name for name in names if TOOL_NAME.fullmatch(name))
    assert protocol_names(names[::-1]) == found
