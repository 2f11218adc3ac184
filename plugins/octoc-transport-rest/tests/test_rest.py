import asyncio
import datetime as dt
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any, ClassVar

import pytest

from octoc.plugin import (
    ConnectFailedError,
    ContentPart,
    PythonTool,
    ServerTarget,
    ToolCall,
    ToolFailure,
    ToolResult,
    Transport,
    load_plugins,
)
from octoc.testing import TransportContract
from octoc_transport_rest import octoc_make_transport
from octoc_transport_rest.endpoint import endpoint_of
from octoc_transport_rest.faults import wait_s
from octoc_transport_rest.host import RestHost, serve
from octoc_transport_rest.host_tools import INTERNAL

TOKEN = "let-me-in-please"
OBJECT: dict[str, Any] = {"type": "object"}


async def _hang(arguments: Mapping[str, Any]) -> str:
    await asyncio.sleep(600)
    return ""


def _explode(arguments: Mapping[str, Any]) -> str:
    raise RuntimeError(f"the password is {TOKEN}")


def _refuse(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("no such city", is_error=True)


def _structured(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult(content=(ContentPart(type="text", text="one"),), structured={"count": 1})


def tool(name: str, handler: Any) -> PythonTool:
    """Return a tool that takes any object."""
    return PythonTool(name=name, description=f"The tool {name}", input_schema=OBJECT, handler=handler)


TOOLS = (
    tool("echo", dict),
    tool("hang", _hang),
    tool("explode", _explode),
    tool("refuse", _refuse),
    tool("structured", _structured),
    tool("words", lambda _arguments: "é and ü"),
    tool("number", lambda _arguments: 7),
)


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """A host of TOOLS in a loop and thread of its own, for suites whose tests each run a loop."""
    found: list[tuple[asyncio.AbstractEventLoop, RestHost, asyncio.Event]] = []

    async def live(started: Any) -> None:
        host = await serve(TOOLS, token=TOKEN)
        over = asyncio.Event()
        found.append((asyncio.get_running_loop(), host, over))
        started()
        await over.wait()
        await host.close()

    up = Event()
    thread = Thread(target=lambda: asyncio.run(live(up.set)))
    thread.start()
    assert up.wait(60)
    loop, host, over = found[0]
    yield host.url
    loop.call_soon_threadsafe(over.set)
    thread.join(60)


def target_at(url: str, **more: Any) -> ServerTarget:
    """Return the target of a server that wants TOKEN."""
    return ServerTarget(name="orders", transport="rest", url=url, auth={"type": "bearer", "token": TOKEN}, **more)


def transport() -> Transport:
    """Return the plugin's transport."""
    made = octoc_make_transport("rest")
    assert made is not None
    return made


class TestContract(TransportContract):
    url: ClassVar[str]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _serve(cls, served: str) -> None:
        cls.url = served

    def make_transport(self) -> Transport:
        return transport()

    def target(self) -> ServerTarget:
        return target_at(self.url)

    def unreachable_target(self) -> ServerTarget:
        return ServerTarget(name="orders", transport="rest", url="http://127.0.0.1:1/s3cr3t-v4lue-of-the-contract")

    def good_call(self) -> ToolCall:
        return ToolCall(tool="echo", arguments={"words": "hello"}, timeout_s=30.0)

    def slow_call(self) -> ToolCall:
        return ToolCall(tool="hang", arguments={}, timeout_s=0.3)


def called(url: str, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return the outcome of one call over a connection of its own."""

    async def scenario() -> Any:
        connection = await transport().connect(target_at(url))
        try:
            return await connection.call(ToolCall(tool=name, arguments=arguments or {}, timeout_s=10.0))
        finally:
            await connection.close()

    return asyncio.run(scenario())


def test_an_object_comes_back_as_text_and_structured(served: str) -> None:
    """An object that a tool answers is its JSON text, and the same object structured."""
    outcome = called(served, "echo", {"city": "Zürich", "n": [1, None]})
    assert outcome.structured == {"city": "Zürich", "n": [1, None]}
    assert json.loads(outcome.text) == outcome.structured
    assert outcome.ok


@pytest.mark.parametrize("name, text", [("words", '"\\u00e9 and \\u00fc"'), ("number", "7")])
def test_a_scalar_comes_back_as_its_json_text_alone(served: str, name: str, text: str) -> None:
    """Text and numbers are raw JSON as the server sent it, and nothing structured."""
    outcome = called(served, name)
    assert (outcome.text, outcome.structured, outcome.ok) == (text, None, True)


def test_a_result_with_structure_is_served_as_that(served: str) -> None:
    """A handler's ToolResult gives its structured content before its text."""
    assert called(served, "structured").structured == {"count": 1}


def test_a_tools_own_error_is_relayed(served: str) -> None:
    """A ToolResult that is an error reaches the client as an error with its text."""
    outcome = called(served, "refuse")
    assert (outcome.is_error, outcome.text) == (True, "no such city")
    assert outcome.structured == {"error": "tool_error", "message": "no such city"}


def test_what_a_handler_raises_stays_inside(served: str) -> None:
    """A handler's exception is the protocol's sentence for it, without the exception's words."""
    outcome = called(served, "explode")
    assert (outcome.is_error, outcome.text) == (True, INTERNAL)
    assert TOKEN not in str(outcome)


@pytest.mark.parametrize("name", ["../tools", "a/b", "UP", "", "a b", "a%2Fb", "é"])
def test_a_name_that_breaks_the_rule_is_never_sent(served: str, name: str) -> None:
    """A name outside `[a-z0-9_]+` is refused, and never part of a path."""
    outcome = called(served, name)
    assert outcome.kind == "not_found"
    assert "has no tool" in outcome.message


@pytest.mark.parametrize("arguments", [{"a": object()}, {"a": float("nan")}])
def test_arguments_that_are_no_json_are_a_value(served: str, arguments: dict[str, Any]) -> None:
    """Arguments that JSON cannot hold are a failure `bad_request`."""
    assert called(served, "echo", arguments).kind == "bad_request"


def test_the_listing_tells_the_protocol(served: str) -> None:
    """The tools are listed in the host's order, under the protocol's name."""

    async def scenario() -> None:
        connection = await transport().connect(target_at(served))
        listing = await connection.list_tools()
        await connection.close()
        assert listing.protocol_version == "octopus-rest"
        assert [one.name for one in listing.tools] == [one.name for one in TOOLS]

    asyncio.run(scenario())


def test_a_wrong_token_says_so(served: str) -> None:
    """With a wrong token connecting works, the listing fails with the server's words, and neither shows the token."""

    async def scenario() -> None:
        target = ServerTarget(
            name="orders", transport="rest", url=served, auth={"type": "bearer", "token": "a-wrong-one"}
        )
        connection = await transport().connect(target)
        with pytest.raises(ConnectFailedError, match="HTTP 401: a bearer token is missing or wrong") as caught:
            await connection.list_tools()
        outcome = await connection.call(ToolCall(tool="echo", arguments={}, timeout_s=10.0))
        assert isinstance(outcome, ToolFailure)
        assert outcome.kind == "unauthorized"
        await connection.close()
        assert "a-wrong-one" not in str(caught.value)

    asyncio.run(scenario())


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no url": ({"url": None}, "has no `url`"),
    "no host": ({"url": "https://"}, "is not an address"),
    "another scheme": ({"url": "ftp://example.com"}, "is not an address"),
    "an invalid port": ({"url": "https://example.com:http"}, "is not an address"),
    "plain http beyond loopback": ({"url": "http://tools.example.com/api"}, "plain `http`"),
    "a name that only looks like loopback": ({"url": "http://127.0.0.1.example.com"}, "plain `http`"),
    "a user in the URL": ({"url": "https://me:s3cr3t-v4lue@example.com"}, "a user, a query or a fragment"),
    "a query": ({"url": "https://example.com/?key=s3cr3t-v4lue"}, "a user, a query or a fragment"),
    "another auth": ({"auth": {"type": "basic", "password": "s3cr3t-v4lue"}}, "not understood"),
    "no token": ({"auth": {"type": "bearer"}}, "not understood"),
    "an empty token": ({"auth": {"type": "bearer", "token": ""}}, "empty"),
    "a token with a line end": ({"auth": {"type": "bearer", "token": "s3cr3t-v4lue\r\nX: y"}}, "cannot carry"),
    "a header with a line end": ({"headers": {"X-Key": "s3cr3t-v4lue\n"}}, "cannot carry"),
    "a header beyond ASCII": ({"headers": {"X-Key": "s3cr3t-v4lue-é"}}, "cannot carry"),
    "a framing header": ({"headers": {"Content-Length": "3"}}, "the transport's own"),
    "two credentials": (
        {"headers": {"authorization": "Bearer s3cr3t-v4lue"}, "auth": {"type": "bearer", "token": "s3cr3t-v4lue"}},
        "keep one of them",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_target_that_cannot_be_reached_safely_is_refused(case: str) -> None:
    """A target with a mistake, or one that would show a credential, is refused in one line without its values."""
    fields, expected = REFUSED[case]
    target = ServerTarget(
        **{"name": "orders", "transport": "rest", "url": "http://127.0.0.1:1", **fields}, production=True
    )
    with pytest.raises(ConnectFailedError, match=expected) as caught:
        asyncio.run(transport().connect(target))
    assert caught.value.permanent
    assert "s3cr3t" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_plain_http_is_for_development(caplog: pytest.LogCaptureFixture) -> None:
    """Outside production mode an address beyond this machine may be plain HTTP, with a warning in the log."""
    target = ServerTarget(name="orders", transport="rest", url="http://tools.example.com/api")
    assert endpoint_of(target).base == "http://tools.example.com/api"
    assert "plain `http`" in caplog.text


def test_the_plugin_is_found_by_its_name() -> None:
    """The entry point `transport-rest` makes transports of the kind `rest`, and of no other."""
    plugins = load_plugins(["transport-rest"])
    assert isinstance(plugins.make_transport("rest"), Transport)
    assert plugins.make_transport("http") is None


def test_loading_the_plugin_loads_no_http_client() -> None:
    """A fresh process that makes the transport has not loaded httpx2 or anyio, and has after loading what connects."""
    code = (
        "import sys, octoc_transport_rest as r; r.octoc_make_transport('rest');"
        "assert not {'httpx2', 'anyio', 'httpcore2'} & set(sys.modules);"
        "import octoc_transport_rest.connection; assert 'httpx2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "header, body, expected",
    [
        (None, None, None),
        ("7", None, 7.0),
        ("7", {"retry_after": 2.5}, 2.5),
        ("7", {"retry_after": True}, 7.0),
        ("7", {"retry_after": -1}, 7.0),
        ("Thu, 01 Jan 2026 00:00:30 GMT", None, 30.0),
    ],
)
def test_when_to_try_again(header: str | None, body: Any, expected: float | None) -> None:
    """The body's `retry_after` goes before the header, unless it is not a number of seconds."""
    assert wait_s(header, body, NOW) == expected


def test_the_examples_of_the_readme_run() -> None:
    """Both programs of the README load, and the tool that the second one serves answers."""
    readme = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    found: dict[str, Any] = {}
    for program in programs:
        exec(program.replace("asyncio.run(main())", ""), found)  # noqa: S102  # the project's own page

    async def scenario() -> Any:
        host = await serve([found["GREET"]], token=TOKEN)
        connection = await transport().connect(target_at(host.url))
        outcome = await connection.call(ToolCall(tool="greet", arguments={"name": "Ada"}, timeout_s=20.0))
        await connection.close()
        await host.close()
        return outcome

    assert len(programs) == 2
    assert asyncio.run(scenario()).structured == {"greeting": "Hello Ada"}
