"""What takes long is not done on the host's event loop: credentials are resolved, large results cut, in threads."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings, Settings, ToolPolicy
from octoc.plugin import hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import Progress, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.runtime.results.fit import fit
from octoc.runtime.results.parts import is_large

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

SECRET = "s3cr3t/of the%keyring"


class Keyring:
    """A resolver that notes its thread, and answers when `gate` is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked = threading.Event()
        self.threads: list[int] = []

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        self.threads.append(threading.get_ident())
        self.asked.set()
        assert self.gate.wait(120)
        return SECRET if reference == "KEY" else None


def opened(fleet: Fleet, keyring: Keyring, timeout_s: float = 20.0) -> Runtime:
    """Return a runtime of one server with a credential from the keyring."""
    fleet.server("s", ["x"], env={"KEY": "${KEY}"}, timeout_s=timeout_s)
    fleet.agent(direct=(0,))
    return Runtime.open(fleet.write(), plugins=plugins_of(fleet, keyring), embedder=fleet.embedder)


def test_a_keyring_that_thinks_holds_up_nobody_else(fleet: Fleet) -> None:
    """While a credential is looked up the loop runs on; then the server gets it."""
    keyring = Keyring()

    async def play() -> None:
        async with opened(fleet, keyring) as runtime:
            call = asyncio.create_task(runtime.session().call("s__x", {"text": "hi"}))
            while not keyring.asked.is_set():  # noqa: ASYNC110  # a thread tells, which no event of the loop hears
                await asyncio.sleep(0.001)
            keyring.gate.set()
            assert (await call).ok

    asyncio.run(play())
    assert threading.get_ident() not in keyring.threads
    assert fleet.servers["s"].targets[0].env == {"KEY": SECRET}


def test_a_cancelled_call_leaves_a_keyring_that_thinks(fleet: Fleet) -> None:
    """Closing does not wait for the keyring's answer, and nothing is connected with it afterwards."""
    keyring = Keyring()

    async def play() -> None:
        async with opened(fleet, keyring) as runtime:
            call = asyncio.create_task(runtime.session().call("s__x"))
            while not keyring.asked.is_set():  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.001)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert not keyring.gate.is_set()
        keyring.gate.set()

    asyncio.run(play())
    assert fleet.servers["s"].connects == 0


def test_a_keyring_that_never_answers_is_a_timeout(fleet: Fleet) -> None:
    """The failure names the server, the configured limit and what was waited for."""
    keyring = Keyring()

    async def play() -> None:
        async with opened(fleet, keyring, timeout_s=0.2) as runtime:
            problems = await runtime.session().connect_unlisted()
            assert problems == {}
            outcome = await runtime.session().call("s__x")
            assert isinstance(outcome, ToolFailure)
            assert (outcome.kind, outcome.sent) == ("timeout", False)
            assert "within 0.2 s" in outcome.message
            keyring.gate.set()

    asyncio.run(play())


class Counter:
    """Counts characters, and notes its thread."""

    name = "noting"

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def count(self, text: str) -> int:
        self.threads.add(threading.get_ident())
        return len(text)


@pytest.mark.parametrize("rows, aside", [(3, False), (60_000, True)])
def test_a_large_result_is_cut_in_a_thread(fleet: Fleet, rows: int, aside: bool) -> None:
    """A large result is cut as a small one is, to the same end, but not on the loop; small ones stay on it."""
    table = ToolResult.of_text(json.dumps([{"id": row, "name": f"row {row}"} for row in range(rows)]))
    fleet.settings = Settings(results=ResultSettings(max_chars=2_000, max_tokens=2_000))

    async def give(arguments: Mapping[str, Any]) -> ToolResult:
        return table

    fleet.server("s", {"x": give})
    fleet.agent(direct=(0,))
    counter = Counter()

    async def play() -> None:
        async with fleet.open(token_counter=counter) as runtime:
            session = runtime.session()
            outcome = await session.call("s__x")
            threads = set(counter.threads)
            assert (threading.get_ident() not in threads) is aside
            expected = await fit(session.state, table, None)
            assert isinstance(outcome, ToolResult)
            assert isinstance(expected, ToolResult)
            assert outcome.content[0] == expected.content[0]
            assert (outcome.handle is not None) is aside
            if outcome.handle is not None:
                page = await session.call("read_result", {"handle": outcome.handle, "json_pointer": "/59999"})
                assert "row 59999" in page.text

    asyncio.run(play())


def test_what_counts_as_large() -> None:
    """A megabyte of text, of structure, or thousands of values; not what is small in all of them."""
    small = attrs.evolve(ToolResult.of_text("x" * 1000), structured={"a": [1, 2, {"b": "c"}]})
    assert not is_large(small)
    assert is_large(ToolResult.of_text("x" * 1_100_000))
    assert is_large(attrs.evolve(small, structured=["x" * 600_000, {"y": "x" * 600_000}]))
    assert is_large(attrs.evolve(small, structured=[[number] for number in range(6_000)]))
    assert is_large(attrs.evolve(small, structured={str(number): number for number in range(6_000)}))


def test_progress_shows_no_secret(fleet: Fleet) -> None:
    """What a server says of a call under way is passed on without its credentials, in whatever form it has them."""
    heard: list[Progress] = []
    keyring = Keyring()
    keyring.gate.set()

    async def play() -> None:
        runtime = opened(fleet, keyring)
        server = fleet.servers["s"]

        async def tell(arguments: Mapping[str, Any]) -> ToolResult:
            told = server.calls[-1].on_progress
            assert told is not None
            told(Progress(done=1, message=f"logged in with {SECRET}"))
            told(Progress(done=2, total=2, message=json.dumps({"key": SECRET})))
            told(Progress(done=3))
            return ToolResult.of_text("done")

        server.tools["x"] = tell
        async with runtime:
            assert (await runtime.session().call("s__x", on_progress=heard.append)).ok

    asyncio.run(play())
    assert [one.message for one in heard] == ["logged in with ***", '{"key": "***"}', None]
    assert [one.done for one in heard] == [1, 2, 3]


def test_a_transport_is_told_the_limit_that_was_set(fleet: Fleet) -> None:
    """What is left of a call's time is the limit it keeps; what it says is the limit that was configured."""
    gate = asyncio.Event()
    calls: list[ToolCall] = []

    async def note(arguments: Mapping[str, Any]) -> ToolResult:
        calls.append(server.calls[-1])
        await gate.wait()
        return ToolResult.of_text("done")

    server = fleet.server("s", {"x": note}, max_concurrent=1, policies=(ToolPolicy(glob="x", timeout_s=4.0),))
    fleet.agent(direct=(0,))

    async def play() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            both = [asyncio.create_task(session.call("s__x")) for _ in range(2)]
            await asyncio.sleep(0.2)
            gate.set()
            assert all(outcome.ok for outcome in await asyncio.gather(*both))

    asyncio.run(play())
    waited = calls[1]
    assert waited.timeout_s < 4.0
    assert [call.told_limit_s for call in calls] == [4.0, 4.0]
