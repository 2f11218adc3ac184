"""Pools of real processes: many calls at once, a server that is killed, a host that is cancelled, a reload."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from octoc.compiler.workspace.build import build
from octoc.runtime import Runtime, Session
from octoc.testing import FAULTY_STDIO

SERVER = FAULTY_STDIO


def _bundle(folder: Path, servers: dict[str, list[str]]) -> Path:
    """Build the bundle of servers that run with these arguments, and return where it is."""
    folder.mkdir(exist_ok=True)
    entries = {
        name: {"command": sys.executable, "args": [SERVER, "none", *arguments]} for name, arguments in servers.items()
    }
    folder.joinpath(".mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    outcome = build(folder)
    assert outcome.bundle is not None
    return outcome.bundle


async def _pid(session: Session, server: str) -> int:
    outcome = await session.call(f"{server}/pid")
    assert outcome.ok, outcome.text
    pid: int = json.loads(outcome.text)[0]
    return pid


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(120):
        while not await condition():  # noqa: ASYNC110  # another process sends no event to wait for
            await asyncio.sleep(0.02)


def test_many_calls_at_once_over_real_servers(tmp_path: Path) -> None:
    """No call is lost and none gets another's answer; afterwards no process and no task is left."""
    names = [f"s{number}" for number in range(4)]

    async def run() -> list[int]:
        async with Runtime.open(_bundle(tmp_path, {name: [] for name in names}), workspace=tmp_path) as runtime:
            session = runtime.session()
            pids = [await _pid(session, name) for name in names]

            async def one(number: int) -> bool:
                nonce = f"nonce-{number}-of-{pids[0]}"
                return nonce in (await session.call(f"s{number % 4}/echo", {"nonce": nonce})).text

            assert all(await asyncio.gather(*map(one, range(400))))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return pids

    pids = asyncio.run(run())
    assert len(set(pids)) == 4
    assert not any(map(_runs, pids))


def test_a_killed_server_comes_back(tmp_path: Path) -> None:
    """The next call starts it again, in another process."""

    async def run() -> None:
        async with Runtime.open(_bundle(tmp_path, {"s": []}), workspace=tmp_path) as runtime:
            session = runtime.session()
            first = await _pid(session, "s")
            os.kill(first, signal.SIGKILL)

            async def is_back() -> bool:
                return (await session.call("s/echo", {"nonce": "x"})).ok

            await _until(is_back)
            assert await _pid(session, "s") != first

    asyncio.run(run())


def test_a_cancelled_host_leaves_no_process(tmp_path: Path) -> None:
    """Cancelled in the middle of its calls, a host still ends its servers."""
    path = _bundle(tmp_path, {"a": [], "b": []})
    pids: list[int] = []

    async def host() -> None:
        async with Runtime.open(path, workspace=tmp_path) as runtime:
            session = runtime.session()
            pids.extend([await _pid(session, "a"), await _pid(session, "b")])
            while True:
                await asyncio.gather(*(session.call(f"{name}/echo", {"nonce": "x"}) for name in "abab"))

    async def run() -> None:
        task = asyncio.create_task(host())

        async def both() -> bool:
            return len(pids) == 2

        await _until(both)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert not any(map(_runs, pids))


def test_a_reload_keeps_the_processes_that_did_not_change(tmp_path: Path) -> None:
    """The server whose definition is as before lives on; the one that changed is another process, its old one ends."""
    before = _bundle(tmp_path / "one", {"same": [], "other": []})
    after = _bundle(tmp_path / "two", {"same": [], "other": ["--era", "modern"]})

    async def run() -> None:
        async with Runtime.open(before, workspace=tmp_path) as runtime:
            session = runtime.session()
            same, other = await _pid(session, "same"), await _pid(session, "other")
            await runtime.reload(after)
            assert await _pid(session, "other") == other
            await session.on_user_message("hello")
            assert await _pid(session, "same") == same
            assert await _pid(session, "other") != other

            async def has_ended() -> bool:
                return not _runs(other)

            await _until(has_ended)

    asyncio.run(run())
