import asyncio
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from octoc.plugin import ConnectFailedError, Connection, Embedder, Host, PythonTool, ServerTarget, Transport
from octoc.results import ContentPart, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.testing import (
    EmbedderContract,
    FakeEmbedder,
    TransportContract,
    echo_tool,
    fake_embedder,
    in_process_transport,
)


async def never(arguments: Mapping[str, Any]) -> str:
    """Answer after ten minutes."""
    await asyncio.sleep(600)
    return ""


def tool(name: str, handler: Any) -> PythonTool:
    """A tool without parameters."""
    return PythonTool(name=name, description="", input_schema={"type": "object"}, handler=handler)


class TestFakeEmbedder(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return fake_embedder()

    def make_from_files(self, embedder: Embedder) -> Embedder:
        return fake_embedder("fake", embedder.files())


class TestInProcess(TransportContract):
    def make_transport(self) -> Transport:
        return in_process_transport({"server": [echo_tool(), tool("hang", never)]})

    def target(self) -> ServerTarget:
        return ServerTarget(name="server", transport="stdio")

    def unreachable_target(self) -> ServerTarget:
        return ServerTarget(name="other", transport="stdio")

    def good_call(self) -> ToolCall:
        return ToolCall(tool="echo", arguments={"text": "hello"}, timeout_s=30.0)

    def slow_call(self) -> ToolCall:
        return ToolCall(tool="hang", arguments={}, timeout_s=0.1)


def test_texts_that_share_words_are_near() -> None:
    """The fake embedder tells texts with common words from texts without."""
    embedder = fake_embedder()
    one, near, far = map(embedder.embed, ("list open pull requests", "open the pull requests", "weather in Tokyo"))
    assert float(one @ near) > 0.5 > float(one @ far)


def listed(transport: Transport) -> ServerListing:
    """What a transport's server lists."""

    async def run() -> ServerListing:
        connection = await transport.connect(ServerTarget(name="s", transport="stdio"))
        try:
            return await connection.list_tools()
        finally:
            await connection.close()

    return asyncio.run(run())


def test_an_in_process_server_gives_pages() -> None:
    """All pages of a server that gives its tools two at a time are listed, in order, as from a server of one page."""
    tools = [echo_tool(f"tool-{number}") for number in range(5)]
    paged = listed(in_process_transport(tools, page_size=2))
    assert [one.name for one in paged.tools] == [one.name for one in tools]
    assert paged == listed(in_process_transport(tools))


def fail(arguments: Mapping[str, Any]) -> str:
    """Raise."""
    raise RuntimeError("no luck")


IMAGE = ToolResult(
    content=(ContentPart(type="image", data={"type": "image", "data": "AA==", "mimeType": "image/png"}),)
)
ANSWERS = [
    (lambda _: "text", ToolResult.of_text("text")),
    (lambda _: {"a": 1}, ToolResult(content=(ContentPart(type="text", text='{"a": 1}'),), structured={"a": 1})),
    (lambda _: IMAGE, IMAGE),
    (lambda _: ToolResult.of_text("no", is_error=True), ToolResult.of_text("no", is_error=True)),
    (fail, ToolResult.of_text("RuntimeError: no luck", is_error=True)),
]


@pytest.mark.parametrize("handler,expected", ANSWERS, ids=["text", "value", "result", "error", "raises"])
def test_a_handlers_answer_goes_through_the_protocol(handler: Any, expected: ToolResult) -> None:
    """Text, a JSON value, a whole result and an exception each arrive as what a server would answer."""

    async def run() -> ToolResult | ToolFailure:
        connection = await in_process_transport([tool("t", handler)]).connect(ServerTarget(name="s", transport="stdio"))
        try:
            return await connection.call(ToolCall(tool="t", arguments={}, timeout_s=30.0))
        finally:
            await connection.close()

    assert asyncio.run(run()) == expected


class RaisingConnection:
    """A connection that breaks every promise."""

    alive = True

    async def list_tools(self) -> ServerListing:
        raise RuntimeError("two\nlines.")

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        raise RuntimeError("raised")

    async def close(self) -> None:
        return None


class BrokenTransport:
    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        if target.name == "gone":
            raise ConnectFailedError(f"two\nlines with {target.env['TOKEN']}.")
        return RaisingConnection()


class BrokenEmbedder(FakeEmbedder):
    def embed(self, text: str) -> Any:
        return super().embed(text) * 2


class BrokenTransportSuite(TransportContract):
    def make_transport(self) -> Transport:
        return BrokenTransport()

    def target(self) -> ServerTarget:
        return ServerTarget(name="there", transport="stdio")

    def unreachable_target(self) -> ServerTarget:
        return ServerTarget(name="gone", transport="stdio")

    def good_call(self) -> ToolCall:
        return ToolCall(tool="t", arguments={}, timeout_s=1.0)


class BrokenEmbedderSuite(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return BrokenEmbedder()

    def make_from_files(self, embedder: Embedder) -> Embedder:
        return BrokenEmbedder("fake", 32)


@pytest.mark.parametrize(
    "suite,name",
    [
        (BrokenTransportSuite, "test_tools_are_listed_in_wire_form"),
        (BrokenTransportSuite, "test_a_call_is_answered"),
        (BrokenTransportSuite, "test_an_unknown_tool_is_a_value"),
        (BrokenTransportSuite, "test_after_close_calls_are_values"),
        (BrokenTransportSuite, "test_an_unreachable_server_says_so"),
        (BrokenEmbedderSuite, "test_a_vector_is_normalised_float32"),
        (BrokenEmbedderSuite, "test_its_files_make_it_again"),
    ],
)
def test_a_suite_catches_who_breaks_the_contract(suite: type[Any], name: str) -> None:
    """Each part of a suite fails for an implementation that does not keep to it."""
    with pytest.raises((AssertionError, RuntimeError)):
        getattr(suite(), name)()


def test_importing_it_is_light() -> None:
    """Importing octoc.testing loads neither the SDK, nor numpy, nor the compiler's packages, nor pytest."""
    code = (
        "import sys, octoc.testing;"
        "print(sorted({'mcp', 'mcp_types', 'pydantic', 'numpy', 'tomlkit', 'yaml', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
