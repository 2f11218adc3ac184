"""A Messages API on the loopback that stands in for the model: it answers with a script, and keeps the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Step = str | Sequence[tuple[str, Mapping[str, Any]]] | Callable[[Any], Any]
"""A text, calls as (name, arguments), or a function from the request's body to one of these."""


class MessagesApi:
    """The stand-in. `requests` has the bodies of the agent's requests, in order.

    Claude Code also asks a model for titles and the like, without octoc's tools: those requests get what `other`
    returns for their body, and are not kept.
    """

    def __init__(self, prefix: str) -> None:
        """`prefix` is what Claude Code puts before the names of octoc's tools."""
        self.url = ""
        self.requests: list[Any] = []
        self._prefix = prefix
        self._steps: Iterator[Step] = iter(())
        self._numbers = 0
        self.other: Callable[[Any], str] = lambda _: "ok"

    def play(self, *steps: Step) -> None:
        """Set what the model answers from now on, a step for each request."""
        self._steps = iter(steps)

    def answer(self, body: Any) -> list[dict[str, Any]]:
        """Return the content of the answer to a request."""
        if not self.tools(body):
            return [{"type": "text", "text": self.other(body)}]
        self.requests.append(body)
        step = next(self._steps, "the script is over")
        step = step(body) if callable(step) else step
        if isinstance(step, str):
            return [{"type": "text", "text": step}]
        return [self._call(name, arguments) for name, arguments in step]

    def tools(self, body: Any) -> list[Any]:
        """Return octoc's tools in a request."""
        return [tool for tool in body.get("tools", ()) if tool.get("name", "").startswith(self._prefix)]

    def names(self, request: int) -> list[str]:
        """Return the names of octoc's tools in a request, as octoc has them."""
        return [tool["name"].removeprefix(self._prefix) for tool in self.tools(self.requests[request])]

    def results(self, request: int) -> list[Any]:
        """Return the results of tools in a request."""
        contents = (message["content"] for message in self.requests[request]["messages"])
        return [block for blocks in contents for block in blocks if dict(block).get("type") == "tool_result"]

    def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._numbers += 1
        return {"type": "tool_use", "id": f"toolu_{self._numbers}", "name": self._prefix + name, "input": arguments}


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    """The stand-in for the model."""
    api = MessagesApi("mcp__octoc__")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the base class's name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.startswith("/v1/messages?") and self.path != "/v1/messages":
                self._send(b'{"input_tokens": 1}', "application/json")
            elif body.get("stream"):
                self._send("".join(_events(api.answer(body))).encode(), "text/event-stream")
            else:
                self._send(json.dumps(_message(api.answer(body))).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_HEAD(self) -> None:  # as above
            self._send(b"", "application/json")

        def do_GET(self) -> None:  # as above
            self._send(b"", "application/json")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    yield api
    server.shutdown()
    thread.join()
    server.server_close()


def _message(content: list[dict[str, Any]]) -> dict[str, Any]:
    reason = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _events(content: list[dict[str, Any]]) -> Iterator[str]:
    whole = _message(content)

    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(content):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=empty)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    yield event(
        "message_delta", delta={"stop_reason": whole["stop_reason"], "stop_sequence": None}, usage=whole["usage"]
    )
    yield event("message_stop")
