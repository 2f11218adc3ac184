"""The pages of frameworks that use `octoc serve`: each page's agent runs in an environment of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
ENVIRONMENTS = os.environ.get("OCTOC_FRAMEWORKS", "")
OWN = ("find_tools", "call_mcp_tool", "capability", "read_result")
WORDS = " ".join(f"w{number}" for number in range(2000))
MESSAGE = "what time is it in Tokyo?"


Call = tuple[str, Mapping[str, Any]]
Step = str | Call | Callable[[Sequence[str]], Call]
"""What the model answers: a text, a call as (name, arguments), or a function from the results so far to a call."""


@attrs.frozen
class ModelRequest:
    """A request to the model: the names of the tools in it, and the texts of the results, the first one first."""

    tools: tuple[str, ...]
    results: tuple[str, ...]


@attrs.define
class ModelApi:
    """The model. `requests` has what it was asked; a request without tools gets an answer, and is not kept."""

    url: str
    steps: Iterator[Step]
    requests: list[ModelRequest] = attrs.field(factory=list)

    def answer(self, request: ModelRequest) -> str | Call:
        """Return what the script has next."""
        if not request.tools:
            return "ok"
        self.requests.append(request)
        step = next(self.steps, "the script is over")
        made = step(request.results) if callable(step) else step
        if isinstance(made, str):
            return made
        # CrewAI puts the address of the server before a tool's name.
        return next((name for name in request.tools if name.endswith(made[0])), made[0]), made[1]


@contextmanager
def model_api(*steps: Step) -> Iterator[ModelApi]:
    """Serve the model. OpenAI's clients use `URL/v1`, Gemini's the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class's name
            length = self.headers["Content-Length"]
            body = json.loads(self.rfile.read(int(length)) if length else self._chunks())
            if ":generateContent" in self.path:
                self._send(json.dumps(_gemini(api.answer(_read_gemini(body)))), "application/json")
                return
            message = _openai(api.answer(_read_openai(body)), len(api.requests))
            if body.get("stream"):
                self._send("".join(_chunks(message)), "text/event-stream")
            else:
                self._send(json.dumps(_completion("chat.completion", message=message)), "application/json")

        def _chunks(self) -> bytes:
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            return body

        def _send(self, text: str, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api = ModelApi(f"http://127.0.0.1:{server.server_port}", iter(steps))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _read_openai(body: Any) -> ModelRequest:
    texts = [(message["role"], _text(message.get("content") or "")) for message in body["messages"]]
    # smolagents sends a result as what the user observes.
    results = [text for role, text in texts if role == "tool" or text.startswith("Observation:")]
    return ModelRequest(tuple(tool["function"]["name"] for tool in body.get("tools") or ()), tuple(results))


def _read_gemini(body: Any) -> ModelRequest:
    names = (one["name"] for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ()))
    parts = (part for content in body["contents"] for part in content["parts"])
    results = (json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part)
    return ModelRequest(tuple(names), tuple(results))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _gemini(answer: str | Call) -> dict[str, Any]:
    part = {"text": answer} if isinstance(answer, str) else {"functionCall": {"name": answer[0], "args": answer[1]}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}


def _openai(answer: str | Call, number: int) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}
    function = {"name": answer[0], "arguments": json.dumps(answer[1])}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _completion(kind: str, **choice: Any) -> dict[str, Any]:
    said = choice.get("message") or choice["delta"]
    reason = "tool_calls" if said.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choices = [{"index": 0, "finish_reason": reason, **choice}]
    return {"id": "1", "object": kind, "created": 1, "model": "m", "choices": choices, "usage": usage}


def _chunks(message: dict[str, Any]) -> Iterator[str]:
    calls = [{**call, "index": index} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    yield f"data: {json.dumps(_completion('chat.completion.chunk', delta=delta))}\n\n"
    yield "data: [DONE]\n\n"


@attrs.frozen
class Run:
    """What an agent printed, and the model that it asked."""

    lines: list[str]
    model: ModelApi


@pytest.fixture
def run(shared: Callable[..., Any], connect: Callable[..., Any], tmp_path: Path) -> Callable[..., Run]:
    """A function that runs a page's agent with a script of the model and messages of the user.

    Another client keeps the backend of `time` open, so that an activation has ended when its call is answered.
    """

    def ran(framework: str, steps: Sequence[Any], *messages: str) -> Run:
        python = Path(ENVIRONMENTS, framework, "bin", "python")
        if not ENVIRONMENTS or not python.is_file():
            pytest.skip(f"{framework} has an environment of its own: run `make adapters`")
        page = (DOCS / f"{framework}.md").read_text(encoding="utf-8")
        code = re.findall(r"```python.*?\n(.*?)```", page, re.DOTALL)[0]
        assert code.count("\n") <= 40
        gateway = shared()
        script = tmp_path / "agent.py"
        script.write_text(code.replace("http://127.0.0.1:8000/mcp", gateway.url), encoding="utf-8")
        with model_api(*steps) as model:
            keys = {
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": f"{model.url}/v1",
                "GOOGLE_API_KEY": "none",
                "GOOGLE_GEMINI_BASE_URL": model.url,
            }
            quiet = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
            env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **keys, **quiet}
            said = "".join(f"{message}\n" for message in (*messages, ""))
            options: dict[str, Any] = {"input": said, "env": env, "cwd": tmp_path, "timeout": 300}

            def agent() -> subprocess.CompletedProcess[str]:
                return subprocess.run([python, script], capture_output=True, text=True, check=False, **options)

            async def scenario() -> subprocess.CompletedProcess[str]:
                async with connect("handshake", gateway) as other:
                    await other.client.call_tool("capability", {"action": "enable", "name": "time"})
                    return await asyncio.to_thread(agent)

            done = asyncio.run(scenario())
        assert done.returncode == 0, done.stderr
        return Run(done.stdout.splitlines(), model)

    return ran


def read_on(results: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Call for the end of a cut result."""
    handle = re.findall(r'handle=\\?"([^"\\]+)', results[-1])[0]
    return "read_result", {"handle": handle, "offset": len(WORDS) - 500}


SEARCH = ("find_tools", {"query": "clock zones", "message": MESSAGE, "detail": []})
ECHO = ("call_mcp_tool", {"tool_name": "plain__echo", "arguments": {"text": WORDS}})
UNKNOWN = ("call_mcp_tool", {"tool_name": "no__such", "arguments": {}})
ACTIVATED = "[octoc] activated: `time`"


@pytest.mark.parametrize("framework", ["crewai", "google-adk", "smolagents"])
def test_an_agent_searches_calls_and_reads_on(run: Callable[..., Run], framework: str) -> None:
    """The page's agent lists, searches, activates, calls, reads a long result on, and goes on after a failed call."""
    last = ("final_answer", {"answer": "It is late."}) if framework == "smolagents" else "It is late."
    done = run(framework, (SEARCH, ECHO, read_on, UNKNOWN, last), MESSAGE)
    for name in OWN:
        assert any(tool.endswith(name) for tool in done.model.requests[0].tools)
    found, cut, page, failed = done.model.requests[4].results
    assert ACTIVATED in found
    assert "w1999" not in cut
    assert "w1999" in page
    assert "no__such" in failed
    assert any("It is late." in line for line in done.lines)


def test_agent_framework_has_new_tools_with_the_next_message(run: Callable[..., Run]) -> None:
    """The agent searches, activates, calls what it found, reads on, reads why a call failed, and has the new tool."""
    now = ("get_current_time", {"timezone": "Asia/Tokyo"})
    done = run("agent-framework", (SEARCH, ECHO, read_on, UNKNOWN, "Ask again.", now, "It is late."), MESSAGE, MESSAGE)
    assert set(OWN) == set(done.model.requests[0].tools)
    assert any(tool.endswith("get_current_time") for tool in done.model.requests[5].tools)
    found, cut, page, failed, time = done.model.requests[6].results
    assert ACTIVATED in found
    assert "w1999" not in cut
    assert "w1999" in page
    assert "no__such" in failed
    assert "Asia/Tokyo" in time
    assert any("It is late." in line for line in done.lines)
