"""What is kept of clients is bounded in number and time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from octoc.runtime import Runtime
from octoc_serve.client_session import ClientSession
from octoc_serve.server import GatewayServer
from octoc_serve.session_shares import SessionLimitError
from octoc_serve.session_store import ClientKey, MemorySessionStore


class FakeSession:
    """Counts how often it was ended."""

    def __init__(self) -> None:
        self.closed = 0
        self.under_way: list[Any] = []

    async def close(self) -> None:
        self.closed += 1


def test_states_are_bounded_and_end_when_idle() -> None:
    """One more than may be is refused; what is idle and not in use ends, once, and makes room."""
    now = 0.0
    sessions = MemorySessionStore(2, 10.0, lambda: now)
    made: list[Any] = []

    def make() -> Any:
        made.append(FakeSession())
        return made[-1]

    first, second, third = (ClientKey(agent="a", session=name) for name in "123")
    assert sessions.get(first, make) is sessions.get(first, make)
    sessions.get(second, make)
    with pytest.raises(SessionLimitError, match="all 2 sessions are taken, 2 of them by"):
        sessions.get(third, make)
    now = 10.0
    with sessions.using(first):
        asyncio.run(sessions.sweep())
        assert [one.closed for one in made] == [0, 1]
        sessions.get(third, make)
    now = 15.0
    asyncio.run(sessions.sweep())
    assert [one.closed for one in made] == [0, 1, 0]
    now = 20.0
    asyncio.run(sessions.sweep())
    assert [one.closed for one in made] == [1, 1, 1]
    assert sessions.all() == ()


def test_a_newcomer_gets_the_place_that_most_is_held_of() -> None:
    """The account with most sessions ends the one used least recently, running calls last, down to an equal part."""
    now = 0.0
    sessions = MemorySessionStore(4, None, lambda: now)

    async def scenario() -> None:
        nonlocal now
        made: dict[str, Any] = {}
        for name in ("1", "2", "3", "4"):
            made[name] = sessions.get(ClientKey(agent="a", session=name, tenant="heavy"), FakeSession)  # type: ignore[arg-type]  # as above
            now += 1
        made["1"].under_way.append("a call")
        for name in ("5", "6"):
            sessions.get(ClientKey(agent="a", session=name, tenant="new"), FakeSession)  # type: ignore[arg-type]  # as above
        await sessions.end(lambda _: False)
        assert [made[name].closed for name in ("1", "2", "3", "4")] == [0, 1, 1, 0]
        for tenant in ("new", "heavy"):
            with pytest.raises(SessionLimitError):
                sessions.get(ClientKey(agent="a", session="7", tenant=tenant), FakeSession)  # type: ignore[arg-type]  # as above
        assert len(sessions.all()) == 4

    asyncio.run(scenario())


def test_the_same_session_of_another_token_is_another_client() -> None:
    """A state is a token's, an agent's and a tenant's own, whatever MCP session is named."""
    sessions = MemorySessionStore(9, None)
    keys = [
        ClientKey(agent="a", session="s"),
        ClientKey(agent="b", session="s"),
        ClientKey(agent="a", session="s", token="t"),
        ClientKey(agent="a", session="s", token="t", tenant="x"),
    ]
    made: list[Any] = [sessions.get(key, FakeSession) for key in keys]  # type: ignore[arg-type]  # all that is asked of it is to end
    assert len(set(map(id, made))) == 4
    asyncio.run(sessions.end(lambda key: key.token == "t"))
    assert [one.closed for one in made] == [0, 0, 1, 1]


class Forgetful:
    """A store that keeps no session between two requests, as in a replica that sees no client twice."""

    def __init__(self) -> None:
        self.kept: dict[ClientKey, ClientSession] = {}
        self.ended: list[asyncio.Task[None]] = []

    def get(self, key: ClientKey, make: Callable[[], ClientSession]) -> ClientSession:
        """Return what this request has."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    @contextlib.contextmanager
    def using(self, key: ClientKey) -> Iterator[None]:
        """Forget what was kept when the request has ended."""
        try:
            yield
        finally:
            gone = self.kept.pop(key, None)
            if gone is not None:
                self.ended.append(asyncio.create_task(gone.close()))

    def all(self) -> tuple[ClientSession, ...]:
        """Return what requests under way have."""
        return tuple(self.kept.values())

    def of(self, matches: Callable[[ClientKey], bool]) -> tuple[tuple[ClientKey, ClientSession], ...]:
        """Return them with whose they are."""
        return tuple((key, served) for key, served in self.kept.items() if matches(key))

    async def end(self, matches: Callable[[ClientKey], bool]) -> None:
        """End them."""
        for key, _ in self.of(matches):
            await self.kept.pop(key).close()

    async def sweep(self) -> None:
        """Do nothing: nothing stays."""


def test_a_client_is_served_from_any_store(root: Path) -> None:
    """The server uses only the methods of the protocol: with a store that keeps nothing, each request is new."""

    async def scenario() -> None:
        (bundle,) = (root / "dist").glob("*.octoc")
        sessions = Forgetful()
        async with Runtime.open(bundle, workspace=root) as runtime:
            gateway = GatewayServer(runtime, sessions, alone=ClientKey(agent="supervisor"))
            async with Client(gateway.lowlevel()) as client:
                before = [tool.name for tool in (await client.list_tools()).tools]
                enabled = await client.call_tool("capability", {"action": "enable", "name": "time"})
                assert not enabled.is_error
                assert [tool.name for tool in (await client.list_tools()).tools] == before
                plain = {"tool_name": "plain__echo", "arguments": {"a": 1}}
                (part, *_) = (await client.call_tool("call_mcp_tool", plain)).content
                assert json.loads(part.text) == {"a": 1}  # type: ignore[union-attr]  # a text part
            assert len(sessions.ended) >= 4
            await asyncio.gather(*sessions.ended)
            assert (sessions.all(), len(runtime.state.sessions)) == ((), 0)

    asyncio.run(asyncio.wait_for(scenario(), 300))
