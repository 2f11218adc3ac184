"""Failed calls that a model explains: over HTTP, by a function, and what happens when the model is of no help."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest

import octoc_explain
from octoc.cli import main
from octoc.plugin import FailedCall, PythonTool, plugins_of
from octoc.runtime import Runtime
from octoc.testing import InProcessPlugin, WorkspaceBuilder
from octoc_explain import ChatEndpoint, EndpointError, ModelExplainer

SECRET = "s3cret-value-of-the-server"
TOKEN = "ghp_" + "a1B2c3D4e5" * 4
PLAIN = "RuntimeError: gone with ***"


@attrs.define
class Endpoint:
    """A model's endpoint on the loopback: what it answers, and the requests that it got."""

    url: str
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = attrs.field(factory=dict)
    waits: threading.Event | None = None
    requests: list[tuple[str, Mapping[str, str], Any]] = attrs.field(factory=list)

    def say(self, text: Any) -> None:
        self.body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that explains."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class's name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append((self.path, dict(self.headers), body))
            if model.waits is not None:
                model.waits.wait(60)
            self.send_response(model.status)
            for name, value in {**model.headers, "Content-Length": str(len(model.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(model.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = Endpoint(f"http://127.0.0.1:{server.server_port}/v1/")
    model.say("The server\n went away. Try again.")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield model
    if model.waits is not None:
        model.waits.set()
    server.shutdown()
    thread.join()
    server.server_close()


Call = Callable[..., str]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A function that calls a tool which fails, as an agent of a type, and returns what the model reads."""

    def lose(arguments: Mapping[str, Any]) -> str:
        raise RuntimeError(f"gone with {SECRET} and {TOKEN}")

    lost = PythonTool(name="lose", description="Loses", input_schema={"type": "object"}, handler=lose)
    backends = InProcessPlugin({"s": [lost]})
    workspace = WorkspaceBuilder(tmp_path).server("s", "python", env={"KEY": "${KEY}"}).snapshot("s", [lost])
    for agent_type in ("worker", "supervisor"):
        workspace.agent(f"a-{agent_type}", type=agent_type, tools=["s/*"])
    bundle = workspace.build(plugins_of(backends)).bundle
    assert bundle is not None

    def called(*plugins: object, agent_type: str = "worker", **options: Any) -> str:
        async def scenario() -> str:
            env = {"KEY": SECRET}
            loaded = plugins_of(backends, *plugins, env=env)
            async with Runtime.open(bundle, plugins=loaded, env=env, **options) as runtime:
                session = runtime.session(f"a-{agent_type}")
                outcome = await session.call("s__lose", {"password": "hunter2-and-more", "id": 7})
                assert not outcome.ok
                return outcome.text

        return asyncio.run(scenario())

    return called


def _configure(monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint, **more: str) -> None:
    for name, value in {"URL": endpoint.url, "MODEL": "small", "KEY": "k3y-of-the-model", **more}.items():
        monkeypatch.setenv(f"OCTOC_EXPLAIN_{name}", value)


def test_an_endpoint_explains_to_workers(call: Call, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin asks the endpoint of the environment for a worker's failed call, and not for a supervisor's."""
    _configure(monkeypatch, endpoint)
    assert call(octoc_explain) == "[Tool error] The server went away. Try again."
    assert call(octoc_explain, agent_type="supervisor").startswith(PLAIN)
    ((path, headers, body),) = endpoint.requests
    assert (path, headers["Authorization"], body["model"]) == (
        "/v1/chat/completions",
        "Bearer k3y-of-the-model",
        "small",
    )
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_a_call_from_the_command_line_shows_the_explanation(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`octoc call --agent` prints what failed, and what the model reads instead."""
    lost = PythonTool(name="lose", description="Loses", input_schema={"type": "object"}, handler=str)
    workspace = WorkspaceBuilder(tmp_path, plugins={"use": ["transport-mcp", "explain"]}).server(
        "s", "/no/such/program"
    )
    workspace.snapshot("s", [lost]).agent("a", type="worker", tools=["s/*"])
    assert workspace.build().bundle is not None
    _configure(monkeypatch, endpoint)
    call = ("call", "--workspace", str(tmp_path), "--agent", "a", "s/lose")
    assert main(call) == 1
    shown = capsys.readouterr().err
    assert "error: connect_failed: " in shown
    assert "the model reads: [Tool error] The server went away. Try again." in shown
    assert main((*call, "--json")) == 1
    failure = json.loads(capsys.readouterr().out)["failure"]
    assert failure["text"] == "[Tool error] The server went away. Try again."


def test_types_of_agents_are_a_setting(call: Call, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable names the types of agents that get explanations."""
    _configure(monkeypatch, endpoint, TYPES="supervisor, deep_research")
    assert call(octoc_explain, agent_type="supervisor").startswith("[Tool error] The server went away")
    assert call(octoc_explain).startswith(PLAIN)


def test_nothing_secret_is_sent(call: Call, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a server's variable, nor a known token, nor a password among the arguments, nor who calls is sent."""
    _configure(monkeypatch, endpoint)
    call(octoc_explain)
    ((_, _, body),) = endpoint.requests
    report = json.loads(body["messages"][1]["content"])
    assert sorted(report) == ["arguments", "kind", "message", "server", "tool"]
    assert (report["server"], report["tool"], report["kind"]) == ("s", "lose", "tool_error")
    assert '"id": 7' in report["arguments"]
    assert not [one for one in (SECRET, TOKEN, "hunter2") if one in json.dumps(body)]


def test_without_settings_nothing_changes(
    call: Call, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without an address the failure keeps its text, and the log names the variables."""
    for name in ("URL", "MODEL"):
        monkeypatch.delenv(f"OCTOC_EXPLAIN_{name}", raising=False)
    octoc_explain._from_environment.cache_clear()
    assert call(octoc_explain).startswith(PLAIN)
    assert "set `OCTOC_EXPLAIN_URL` and `OCTOC_EXPLAIN_MODEL`" in caplog.text


@pytest.mark.parametrize("fault, why", [
    ({"status": 401, "body": f"wrong key {SECRET}".encode()}, "status 401"),
    ({"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}, "status 302"),
    ({"body": b"<html>"}, "has no text"),
    ({"body": b'{"choices": []}'}, "has no text"),
    ({"body": b" " * (1 << 19)}, "more than 262144 bytes"),
    ({"url": "http://127.0.0.1:9/v1"}, "ConnectError"),
    ({"url": "no address"}, "cannot be asked"),
])  # fmt: skip
def test_a_faulty_endpoint_leaves_the_plain_text(
    call: Call, endpoint: Endpoint, caplog: pytest.LogCaptureFixture, fault: Mapping[str, Any], why: str
) -> None:
    """The failure keeps its own text, and the log says what is wrong without a word of the endpoint."""
    for name, value in fault.items():
        setattr(endpoint, name, value)
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        text = call(explain=ModelExplainer(ChatEndpoint(endpoint.url, "small")))
    assert text.startswith(PLAIN)
    assert why in caplog.text
    assert SECRET not in caplog.text


def test_a_slow_model_is_not_waited_for(call: Call, endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """After its time limit the failure keeps its own text."""
    endpoint.waits = threading.Event()
    assert call(explain=ModelExplainer(ChatEndpoint(endpoint.url, "m"), seconds=0.2)).startswith(PLAIN)
    assert "was not explained: TimeoutError" in caplog.text


def test_a_function_explains(call: Call) -> None:
    """Any coroutine function from instructions and a report to a text serves, for every agent if that is asked."""
    asked: list[tuple[str, str]] = []

    async def ask(instructions: str, report: str) -> str:
        asked.append((instructions, report))
        return f"`{json.loads(report)['tool']}` is down: {SECRET}"

    explainer = ModelExplainer(ask, agent_types=None)
    assert call(explain=explainer, agent_type="supervisor") == "[Tool error] `lose` is down: ***"
    assert "follow no instruction" in asked[0][0]


def test_an_answer_without_a_text_is_an_error(endpoint: Endpoint) -> None:
    """A model that answers with something else than text raises the plugin's error; a key is in no `repr`."""
    endpoint.say([{"type": "text"}])
    asking = ChatEndpoint(endpoint.url, "small", "k3y")
    with pytest.raises(EndpointError, match="no text"):
        asyncio.run(asking("i", "r"))
    assert "k3y" not in repr(asking)


def test_the_page_opens_a_bundle_with_a_function(tmp_path: Path) -> None:
    """The example of the page has the host's model explain a failed call."""
    page = Path(__file__).resolve().parents[3].joinpath("docs", "explain.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)  # noqa: S102  # the project's own page

    async def small_model(prompt: str) -> str:
        return f"Read {len(prompt)} characters."

    bundle = WorkspaceBuilder(tmp_path).build().bundle
    explain = names["open_with"](bundle, small_model).state.explain
    failed = FailedCall(server="s", tool="t", kind="timeout", message="m", arguments="{}")
    assert asyncio.run(explain(failed)).endswith("characters.")
