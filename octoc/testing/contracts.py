"""Tests that every embedder and every transport must pass: subclass one in a test file as `class TestMine(...)`.

They are plain pytest classes without fixtures: a subclass makes the object, and pytest runs the inherited tests.
"""
# ruff: noqa: S101  # assert is how a test says what it expects

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import attrs

from octoc.plugin.protocols import ConnectFailedError, Connection, Embedder, ServerTarget, Transport
from octoc.results import ToolCall, ToolFailure, ToolResult

T = TypeVar("T")

TEXTS = (
    "read the file",
    "Read the File",
    "what time is it in Tokyo?",
    "résumé naïve Straße",
    "日本語のテキスト",
    "🙂 emoji, and\ttabs\nand lines",
    "word " * 2000,
    "x",
)
_TOLERANCE = 1e-5
_PARALLEL = 8
_CONNECT_S = 30.0


class EmbedderContract(ABC):
    """The contract of `octoc.plugin.Embedder`."""

    @abstractmethod
    def make_embedder(self) -> Embedder:
        """Return a new embedder; called once a test."""

    @abstractmethod
    def make_from_files(self, embedder: Embedder) -> Embedder:
        """Return the embedder that another machine makes of `embedder.files()`."""

    def test_it_satisfies_the_protocol(self) -> None:
        """It has every member of the protocol, and a name and an identity that are not empty."""
        embedder = self.make_embedder()
        assert isinstance(embedder, Embedder)
        assert embedder.name
        assert embedder.identity
        assert embedder.dimension > 0

    def test_a_vector_is_normalised_float32(self) -> None:
        """A vector has the shape (dimension,), is float32, finite, and of length one."""
        import numpy as np

        embedder = self.make_embedder()
        for text in TEXTS:
            vector = embedder.embed(text)
            assert vector.shape == (embedder.dimension,), text
            assert vector.dtype == np.float32, text
            assert np.isfinite(vector).all(), text
            assert abs(float(np.linalg.norm(vector)) - 1.0) < _TOLERANCE, text

    def test_text_without_tokens_has_a_vector_too(self) -> None:
        """An empty text gives a finite vector, of length one or all zeros."""
        import numpy as np

        embedder = self.make_embedder()
        vector = embedder.embed("")
        assert vector.shape == (embedder.dimension,)
        length = float(np.linalg.norm(vector))
        assert length == 0.0 or abs(length - 1.0) < _TOLERANCE

    def test_what_came_before_changes_no_bit(self) -> None:
        """The same text gives the same bits, first, after other texts, and from another embedder."""
        embedder = self.make_embedder()
        alone = {text: self.make_embedder().embed(text).tobytes() for text in TEXTS[:3]}
        for text in (*TEXTS, *reversed(TEXTS)):
            bits = embedder.embed(text).tobytes()
            assert alone.setdefault(text, bits) == bits, text

    def test_a_vector_is_the_callers_own(self) -> None:
        """Writing into a returned vector does not change what the embedder returns next."""
        embedder = self.make_embedder()
        first = embedder.embed(TEXTS[0])
        kept = first.copy()
        if first.flags.writeable:
            first[:] = 0
        assert embedder.embed(TEXTS[0]).tobytes() == kept.tobytes()

    def test_threads_get_the_same_bits(self) -> None:
        """Called from several threads at once, it gives the bits that it gives to one."""
        embedder = self.make_embedder()
        texts = [text[:200] for text in TEXTS] * 4
        expected = [embedder.embed(text).tobytes() for text in texts]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            found = list(pool.map(lambda text: embedder.embed(text).tobytes(), texts))
        assert found == expected

    def test_its_files_make_it_again(self) -> None:
        """Another embedder, made of its files, has its identity, its dimension and its vectors."""
        embedder = self.make_embedder()
        files = embedder.files()
        assert all(name and "/" not in name and "\\" not in name for name in files)
        again = self.make_from_files(embedder)
        assert (again.identity, again.dimension) == (embedder.identity, embedder.dimension)
        assert again.embed(TEXTS[2]).tobytes() == embedder.embed(TEXTS[2]).tobytes()


class TransportContract(ABC):
    """The contract of `octoc.plugin.Transport` and `Connection`, against a server that really answers."""

    @abstractmethod
    def make_transport(self) -> Transport:
        """Return a transport; called once a test."""

    @abstractmethod
    def target(self) -> ServerTarget:
        """Return a server that can be reached and has at least one tool."""

    @abstractmethod
    def unreachable_target(self) -> ServerTarget:
        """Return a server that refuses, or is not there."""

    @abstractmethod
    def good_call(self) -> ToolCall:
        """Return a call that the server of `target` answers without an error."""

    def slow_call(self) -> ToolCall | None:
        """Return a call that takes longer than its own time-out, or None when the server has no such tool."""
        return None

    def test_it_satisfies_the_protocols(self) -> None:
        """The transport and its connection have every member of their protocols."""

        async def scenario(connection: Connection) -> None:
            assert isinstance(connection, Connection)
            assert connection.alive

        assert isinstance(self.make_transport(), Transport)
        self._with_connection(scenario)

    def test_tools_are_listed_in_wire_form(self) -> None:
        """Every listed tool has a name of its own, and a wire object with the same name and an object as its schema."""

        async def scenario(connection: Connection) -> None:
            listing = await connection.list_tools()
            names = [tool.name for tool in listing.tools]
            assert names
            assert len(set(names)) == len(names)
            assert listing.protocol_version
            for tool in listing.tools:
                assert tool.wire["name"] == tool.name
                assert tool.wire["inputSchema"]["type"] == "object"
                assert tool.wire.get("description", "") == tool.description

        self._with_connection(scenario)

    def test_listing_twice_gives_the_same(self) -> None:
        """A second listing on one connection equals the first."""

        async def scenario(connection: Connection) -> None:
            assert await connection.list_tools() == await connection.list_tools()

        self._with_connection(scenario)

    def test_a_call_is_answered(self) -> None:
        """A good call gives a successful result with content."""

        async def scenario(connection: Connection) -> None:
            result = await connection.call(self.good_call())
            assert isinstance(result, ToolResult), result
            assert result.ok, result
            assert result.content or result.structured is not None

        self._with_connection(scenario)

    def test_any_task_may_call_at_any_time(self) -> None:
        """Calls from several tasks at once are each answered, before and after the tools were listed."""

        async def scenario(connection: Connection) -> None:
            calls = [asyncio.create_task(connection.call(self.good_call())) for _ in range(_PARALLEL)]
            results = [*await asyncio.gather(*calls), await connection.call(self.good_call())]
            assert all(isinstance(result, ToolResult) and result.ok for result in results), results

        self._with_connection(scenario)

    def test_an_unknown_tool_is_a_value(self) -> None:
        """A tool that the server has not is a failure `not_found`, or the server's own result that says so."""

        async def scenario(connection: Connection) -> None:
            outcome = await connection.call(attrs.evolve(self.good_call(), tool="no-such-tool-anywhere"))
            if isinstance(outcome, ToolFailure):
                assert outcome.kind == "not_found", outcome
            else:
                assert outcome.is_error, outcome
            assert connection.alive

        self._with_connection(scenario)

    def test_a_call_that_takes_too_long_is_a_value(self) -> None:
        """A call beyond its time-out is a failure `timeout`, and the connection goes on."""
        slow = self.slow_call()
        if slow is None:
            return

        async def scenario(connection: Connection) -> None:
            outcome = await connection.call(slow)
            assert isinstance(outcome, ToolFailure), outcome
            assert outcome.kind == "timeout"
            _assert_one_line(outcome.message)
            again = await connection.call(self.good_call())
            assert again.ok, again

        self._with_connection(scenario)

    def test_a_cancelled_call_leaves_the_connection_whole(self) -> None:
        """Cancelling a call passes through to its task, and the next call is answered."""

        async def scenario(connection: Connection) -> None:
            task = asyncio.create_task(connection.call(self.slow_call() or self.good_call()))
            await asyncio.sleep(0)
            task.cancel()
            done, _ = await asyncio.wait((task,))
            assert done
            assert task.cancelled()
            again = await connection.call(self.good_call())
            assert again.ok, again

        self._with_connection(scenario)

    def test_after_close_calls_are_values(self) -> None:
        """After `close`, which may be called twice, the connection is not alive, a call is a value, listing fails."""

        async def scenario(connection: Connection) -> None:
            await connection.close()
            await connection.close()
            assert not connection.alive
            outcome = await connection.call(self.good_call())
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == "connection_lost"
            _assert_one_line(await _refusal(connection.list_tools()))

        self._with_connection(scenario)

    def test_another_task_may_close(self) -> None:
        """A connection may be closed by another task than the one that opened it, while a call is under way."""

        async def scenario(connection: Connection) -> None:
            call = asyncio.create_task(connection.call(self.slow_call() or self.good_call()))
            await asyncio.sleep(0)
            await asyncio.create_task(connection.close())
            outcome = await call
            assert isinstance(outcome, (ToolResult, ToolFailure))

        self._with_connection(scenario)

    def test_an_unreachable_server_says_so(self) -> None:
        """Connecting to it raises ConnectFailedError with one line, without any value of its environment or headers."""
        secret = "s3cr3t-v4lue-of-the-contract"
        target = attrs.evolve(
            self.unreachable_target(), env={"TOKEN": secret}, headers={"Authorization": secret}, secrets=(secret,)
        )

        async def scenario() -> None:
            message = await _refusal(self.make_transport().connect(target))
            _assert_one_line(message)
            assert secret not in message

        asyncio.run(scenario())

    def _with_connection(self, scenario: Callable[[Connection], Awaitable[T]]) -> T:
        async def run() -> T:
            connection = await self.make_transport().connect(attrs.evolve(self.target(), timeout_s=_CONNECT_S))
            try:
                return await scenario(connection)
            finally:
                await connection.close()

        return asyncio.run(run())


async def _refusal(attempt: Awaitable[object]) -> str:
    try:
        done = await attempt
    except ConnectFailedError as error:
        return str(error)
    raise AssertionError(f"expected ConnectFailedError, and got {done!r}")


def _assert_one_line(message: str) -> None:
    assert message.strip() == message
    assert message
    assert "\n" not in message
    assert not message.endswith(".")
