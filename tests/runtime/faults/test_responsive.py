"""What a server makes expensive is worked out in a thread: other sessions' calls end while it is held up there."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import octoc.search.index
from octoc.bundle.model import Grant
from octoc.json_limits import parse
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.search.index import lexical_arrays
from octoc.testing import FAULTY_STDIO
from octoc_transport_mcp import messages
from tests.runtime.conftest import Fleet

PYTHON = ("-I", "-S", FAULTY_STDIO)
PATIENT_S = 120.0


class Held:
    """A function that waits in its thread until the test releases it; a wait on the event loop would never end."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.reached = threading.Event()
        self.gate = threading.Event()
        self.threads: set[int] = set()

    def __call__(self, *arguments: Any) -> Any:
        self.threads.add(threading.get_ident())
        self.reached.set()
        assert self.gate.wait(PATIENT_S)
        return self._function(*arguments)


def _fleet(folder: Path, mode: str) -> Fleet:
    fleet = Fleet(folder)
    run: dict[str, Any] = {"command": sys.executable, "timeout_s": PATIENT_S}
    fleet.server("good", ["echo"], args=(*PYTHON, "none"), **run)
    fleet.server("bad", [], args=(*PYTHON, mode), listed=False, **run)
    fleet.agent(proxy=True, unlisted=(Grant(server="bad", globs=("*",)),), direct=fleet.index("good/echo"))
    return fleet


async def _beside(session: Any, held: Held) -> list[ToolResult | ToolFailure]:
    """Call another server while the function is held up, and let it go afterwards."""
    while not held.reached.is_set():  # noqa: ASYNC110  # a thread tells, which no event of the loop hears
        await asyncio.sleep(0.001)
    outcomes = [await session.call("good__echo", {"text": str(number)}) for number in range(3)]
    held.gate.set()
    return outcomes


@pytest.mark.parametrize("mode", ["9000-tools", "huge-word"])
def test_many_tools_are_indexed_while_others_call(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search after a server listed 9,000 tools, or one of a huge word, holds up no other session."""
    held = Held(lexical_arrays)
    few = mode == "huge-word"

    async def play() -> None:
        plugins = load_plugins(["transport-mcp"], {})
        async with Runtime.open(_fleet(tmp_path, mode).write(), plugins=plugins, workspace=tmp_path) as runtime:
            one, other = runtime.session(), runtime.session()
            assert await one.connect_unlisted() == {}
            if few:
                held.gate.set()  # a few tools are indexed at once, in no time
            monkeypatch.setattr(octoc.search.index, "lexical_arrays", held)
            found = asyncio.create_task(one.call("find_tools", {"query": "tool-7 misbehaves"}))
            assert all(outcome.ok for outcome in await _beside(other, held))
            assert (await found).ok

    asyncio.run(play())
    assert few or threading.get_ident() not in held.threads


def test_a_large_answer_is_parsed_while_others_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one server's large answer is parsed another server answers,."""
    held = Held(parse)

    async def play() -> None:
        plugins = load_plugins(["transport-mcp"], {})
        async with Runtime.open(_fleet(tmp_path, "many-parts").write(), plugins=plugins, workspace=tmp_path) as runtime:
            one, other = runtime.session(), runtime.session()
            assert await one.connect_unlisted() == {}
            monkeypatch.setattr(messages, "parse", held)
            call = asyncio.create_task(one.call("call_mcp_tool", {"tool_name": "bad/fault", "arguments": {}}))
            outcomes = await _beside(other, held)
            assert [json.loads(outcome.text) for outcome in outcomes] == [{"text": str(number)} for number in range(3)]
            outcome = await call
            assert isinstance(outcome, ToolFailure)
            assert "more than 10000 content parts" in outcome.text

    asyncio.run(play())
    assert threading.get_ident() not in held.threads


def test_a_call_can_be_given_up_while_its_answer_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelling a call, as its time limit does, does not wait for the parser."""
    held = Held(parse)
    fleet = Fleet(tmp_path)
    fleet.server("bad", ["fault"], args=(*PYTHON, "many-parts"), command=sys.executable, timeout_s=PATIENT_S)
    fleet.agent(direct=(0,))

    async def play() -> None:
        plugins = load_plugins(["transport-mcp"], {})
        async with Runtime.open(fleet.write(), plugins=plugins, workspace=tmp_path) as runtime:
            session = runtime.session()
            monkeypatch.setattr(messages, "parse", held)
            call = asyncio.create_task(session.call("bad__fault", {}))
            while not held.reached.is_set():  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.001)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert not held.gate.is_set()
            held.gate.set()

    asyncio.run(play())
