"""A bug in octoc ends only the work in which it occurs, and shows no values."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from octoc.runtime import Runtime
from octoc_serve.client_session import ClientSession
from octoc_serve.server import GatewayServer
from octoc_serve.session_store import ClientKey, MemorySessionStore
from octoc_serve.watch import SessionRefresher, stamps, watch

SECRET = "hunter2"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the gateway logged without `-v`."""
    ours = (record for record in caplog.records if record.name.startswith("octoc_serve"))
    return [record.getMessage() for record in ours if record.levelno >= logging.INFO]


def test_watching_goes_on_when_a_change_could_not_be_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The next change of the same file, and those of others, are taken over as before."""
    files = [tmp_path / "tokens.json", tmp_path / "acme.octoc"]
    done: list[str] = []

    async def scenario() -> None:
        asked = asyncio.Event()
        both = asyncio.Event()

        async def broken() -> None:
            done.append("tokens")
            raise RuntimeError(SECRET)

        async def whole() -> None:
            done.append("bundle")
            both.set()

        watching = asyncio.create_task(watch([((files[0],), broken), ((files[1],), whole)], stamps(*files), asked))
        for _ in range(2):
            asked.set()
            await both.wait()
            both.clear()
        watching.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 300))
    assert done == ["tokens", "bundle"] * 2
    told = lines(caplog)
    assert len(told) == 2
    assert told[0].startswith("taking over `tokens.json` failed with `RuntimeError` at ")
    assert SECRET not in "".join(told)


def test_news_reach_the_others_when_one_clients_view_fails(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each client is shown what changed, whatever becomes of another's view."""
    (bundle,) = (root / "dist").glob("*.octoc")

    async def scenario() -> None:
        refreshed = asyncio.Event()

        class Broken(ClientSession):
            async def refresh(self) -> None:
                raise RuntimeError(SECRET)

        class Whole(ClientSession):
            async def refresh(self) -> None:
                refreshed.set()

        async with Runtime.open(bundle, workspace=root) as runtime:
            sessions = MemorySessionStore(9, None)
            for kind in (Broken, Whole):
                key = ClientKey(agent="clerk", session=kind.__name__)
                sessions.get(key, functools.partial(kind, runtime.session("clerk")))
            refresher = SessionRefresher(runtime, sessions)
            running = asyncio.create_task(refresher.run())
            for _ in range(2):
                refresher.take_over()
                await refreshed.wait()
                refreshed.clear()
            running.cancel()
            await sessions.end(lambda _: True)

    asyncio.run(asyncio.wait_for(scenario(), 300))
    assert SECRET not in "".join(lines(caplog))


def test_a_client_is_told_of_a_bug_and_not_what_it_says(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is answered with an error without the exception's text, and the next one is as ever."""
    (bundle,) = (root / "dist").glob("*.octoc")
    whole = ClientSession.call

    async def call(self: ClientSession, *given: Any) -> Any:
        if given[0].name == "broken":
            raise RuntimeError(SECRET)
        return await whole(self, *given)

    monkeypatch.setattr(ClientSession, "call", call)

    async def scenario() -> None:
        async with Runtime.open(bundle, workspace=root) as runtime:
            sessions = MemorySessionStore(1, None)
            gateway = GatewayServer(runtime, sessions, alone=ClientKey(agent="clerk"), workdir=os.fspath(root))
            async with Client(gateway.lowlevel()) as client:
                with pytest.raises(MCPError, match="a bug in octoc") as raised:
                    await client.call_tool("broken", {})
                assert SECRET not in str(raised.value)
                assert not (await client.call_tool("plain__pid", {})).is_error
            await sessions.end(lambda _: True)

    asyncio.run(asyncio.wait_for(scenario(), 300))
    (told,) = lines(caplog)
    assert told.startswith("`tools/call` failed with `RuntimeError` at ")
    assert told.endswith(f"{__name__}:{call.__code__.co_firstlineno + 2}: this is a bug in octoc")
