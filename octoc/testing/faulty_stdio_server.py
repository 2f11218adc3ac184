"""An MCP server over stdio that misbehaves: `python -m octoc.testing.faulty_stdio_server MODE [--era modern]`.

It needs only Python and imports nothing from octoc, so it may be run by its path too, which starts faster. Its
tools are `echo` (answers with its arguments), `pid` (its process and child processes), `listings` (the number of
times that clients listed its tools), `cancels` (the number of cancelled calls) and `fault` (fails as MODE describes);
some modes fail earlier. `MODES` has all modes; `--help` prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

MODES = {
    "none": "answers as it should",
    "exit-at-start": "exits with code 3 before it reads anything, with a word on stderr",
    "exit-in-list": "exits with code 4 when its tools are to be listed",
    "exit-in-call": "exits with code 7 during a call, with two lines on stderr",
    "exit-after-call": "answers a call and exits with code 0",
    "signal-in-call": "ends itself with SIGKILL during a call",
    "hang-in-init": "never answers the first request",
    "silent-probe": "never answers `server/discover`, and answers `initialize`",
    "hang-in-list": "never answers `tools/list`",
    "hang-in-call": "never answers the call",
    "deaf": "answers a call, and never reads its stdin again",
    "banner": "prints a banner before it begins",
    "garbage": "prints a line that is not a message, and never answers the call",
    "half-frame": "prints half of an answer, and no more",
    "half-frame-exit": "prints half of an answer, and exits with code 9",
    "broken-frame": "prints an answer that is cut in its middle, with its newline",
    "huge-line": "answers with a line of 50 MB, its id in front",
    "huge-line-id-last": "answers with a line of 50 MB, its id at the end",
    "huge-line-no-id": "answers with 50 MB of one letter",
    "invalid-utf8": "answers with bytes that are not UTF-8",
    "half-character": "answers with half of a character, as JSON escapes it",
    "deep-json": "answers with JSON that is nested 100,000 deep",
    "many-elements": "answers with 14 MB of empty content parts",
    "many-parts": "answers with 20,000 content parts",
    "many-lines": "prints 500,000 empty lines, then answers",
    "not-an-object": "answers with a result that is not an object",
    "null-id": "answers with an error without an id",
    "9000-tools": "lists 9,000 tools",
    "huge-word": "lists a tool whose description is one word of 200,000 letters",
    "many-tools": "lists 100,000 tools on one page",
    "many-pages": "lists 100,000 tools on pages of 1,000",
    "same-cursor": "lists with the same cursor for ever",
    "endless-cursors": "lists with another cursor for ever, and nothing else",
    "same-name": "lists two tools of one name",
    "notification-flood": "sends log messages without end from the first call on, and answers",
    "progress-flood": "sends 50,000 progress notifications of the call, then answers",
    "request-flood": "asks for roots 20,000 times during a call, then answers",
    "list-changed-storm": "says 20,000 times that its tools changed, then answers",
    "tool-disappears": "answers a call of `fault`, and has that tool no more",
    "wrong-id": "answers with an unknown id, then rightly",
    "twice": "answers twice",
    "late": "answers a call after it was cancelled",
    "ask-abandoned": "asks for an answer of the user after the call was cancelled",
    "untyped": "answers without `resultType`",
    "null-schema": "lists a tool whose schema is null, and one whose output schema is",
    "unknown-part": "answers with a text and a content part of an unknown type",
    "not-a-number": "answers with `NaN`, which is not JSON",
    "stderr-flood": "writes 50 MB to stderr, then answers",
    "ignore-sigterm": "goes on when its stdin ends and when it gets SIGTERM",
    "child": "starts a process that outlives it, and holds its pipes",
    "child-exit": "as `child`, and exits with code 5 during a call",
    "own-error": "answers with a JSON-RPC error of the `code` in the call's arguments",
    "secret-error": "answers with a JSON-RPC error that has $SECRET in it",
    "secret-result": "answers with an error result that has $SECRET in it",
    "secret-stderr": "writes $SECRET to stderr and exits with code 6 during a call",
    "ask-elicitation": "asks for an answer of the user during a call",
    "ask-sampling": "asks for a completion during a call",
    "ask-roots": "asks for the roots during a call",
    "progress": "sends three progress notifications, then answers",
    "meta": "answers with the call's `_meta`",
}

FAULTY_STDIO = __file__
"""The path of this program: `python -I -S` runs it without octoc installed."""
MODERN = "2026-07-28"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
HUGE = 50 * 1024 * 1024
MANY = 100_000
ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask-elicitation": (
        "elicitation/create",
        {
            "mode": "form",
            "message": "Which one?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    ),
    "ask-sampling": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}], "maxTokens": 10},
    ),
    "ask-roots": ("roots/list", {}),
}


class FaultyServer:
    """One server, in one mode: reads stdin line by line until it ends, or until the mode has it end otherwise."""

    def __init__(self, mode: str, *, modern: bool) -> None:
        self._mode = mode
        self._modern = modern
        self._out = sys.stdout.buffer
        self._lock = threading.Lock()
        self._children: list[int] = []
        self._listings = 0
        self._cancels = 0
        self._late: Any = None
        self._gone = False
        self._listener: Any = None
        self._asked: dict[str, Callable[[dict[str, Any]], None]] = {}

    def run(self) -> None:
        """Serve until stdin ends."""
        if self._mode == "exit-at-start":
            self._die(3, "no licence found")
        if self._mode == "banner":
            self._raw(b"*** Welcome to FaultyServer 1.0 ***\n")
        if self._mode == "ignore-sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._mode in {"child", "child-exit"}:
            child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
            self._children.append(child.pid)
        for line in sys.stdin.buffer:
            self._handle(json.loads(line))
        if self._mode == "ignore-sigterm":
            time.sleep(600)

    def _handle(self, message: dict[str, Any]) -> None:
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method is None:
            heard = self._asked.pop(str(number), None)
            if heard is not None:
                heard(message)
        elif method == "notifications/cancelled":
            self._cancels += 1
            if self._late is not None and params.get("requestId") == self._late and self._mode == "ask-abandoned":
                method, asked = ASKS["ask-elicitation"]
                self._send({"jsonrpc": "2.0", "id": "ask", "method": method, "params": asked})
            elif self._late is not None and params.get("requestId") == self._late:
                self._text(self._late, "too late")
        elif method in {"server/discover", "initialize"}:
            self._begin(method, number)
        elif method == "tools/list":
            self._list(number, params)
        elif method == "tools/call":
            self._call(number, params)
        elif method in {"resources/read", "prompts/get"}:
            self._offer(number, params)
        elif method == "subscriptions/listen" and self._modern:
            self._listener = number
            asked = params.get("notifications") or {}
            self._note("notifications/subscriptions/acknowledged", notifications=asked)
        elif number is not None:
            self._error(number, -32601, "Method not found")

    def _begin(self, method: str, number: Any) -> None:
        if self._mode == "hang-in-init" or (self._mode == "silent-probe" and method == "server/discover"):
            return
        info = {"name": "faulty", "version": "1"}
        abilities = {"tools": {"listChanged": True}}
        if method == "initialize" and not self._modern:
            self._result(number, protocolVersion="2025-11-25", capabilities=abilities, serverInfo=info)
        elif method == "server/discover" and self._modern:
            self._result(
                number,
                supportedVersions=[MODERN],
                capabilities=abilities,
                _meta={"io.modelcontextprotocol/serverInfo": info},
                **_FRESH,
            )
        else:
            self._error(number, -32601, "Method not found")

    def _list(self, number: Any, params: dict[str, Any]) -> None:
        self._listings += 1
        cursor = params.get("cursor")
        more = _FRESH if self._modern else {}
        if self._mode == "hang-in-list":
            return
        if self._mode == "exit-in-list":
            self._die(4, "the catalog is broken")
        if self._mode == "9000-tools":
            self._result(number, tools=[*_tools(), *(_tool(f"tool-{i}") for i in range(9000))], **more)
        elif self._mode == "huge-word":
            self._result(number, tools=[*_tools(), {**_tool("long"), "description": "a" * 200_000}], **more)
        elif self._mode == "many-tools":
            self._result(number, tools=[_tool(f"tool-{i}") for i in range(MANY)], **more)
        elif self._mode == "many-pages":
            start = int(cursor or 0)
            after = {"nextCursor": str(start + 1000)} if start + 1000 < MANY else {}
            self._result(number, tools=[_tool(f"tool-{i}") for i in range(start, start + 1000)], **after, **more)
        elif self._mode == "same-cursor":
            self._result(number, tools=_tools(), nextCursor="again", **more)
        elif self._mode == "endless-cursors":
            self._result(number, tools=[], nextCursor=str(self._listings), **more)
        elif self._mode == "null-schema":
            nulls = {**_tool("without"), "inputSchema": None}, {**_tool("undeclared"), "outputSchema": None}
            self._result(number, tools=[*_tools(), *nulls], **more)
        elif self._mode == "same-name":
            second = {**_tool("echo"), "description": "The second of its name"}
            self._result(number, tools=[*_tools(), second], **more)
        else:
            self._result(
                number, tools=[tool for tool in _tools() if not (self._gone and tool["name"] == "fault")], **more
            )

    def _call(self, number: Any, params: dict[str, Any]) -> None:
        name = params.get("name")
        if name == "echo":
            self._text(number, json.dumps(params.get("arguments")))
        elif name == "pid":
            self._text(number, json.dumps([os.getpid(), *self._children]))
        elif name == "listings":
            self._text(number, str(self._listings))
        elif name == "cancels":
            self._text(number, str(self._cancels))
        elif name == "fault" and not self._gone:
            self._fault(number, params)
        else:
            self._error(number, -32602, f"Unknown tool: {name}")

    def _offer(self, number: Any, params: dict[str, Any]) -> None:
        """Read a resource or fill a prompt. It fails as MODE describes if the name is or ends with `fault`."""
        uri = params.get("uri")
        if (uri or params["name"]).endswith("fault"):
            self._fault(number, params)
        elif uri is None:
            self._result(number, messages=[{"role": "user", "content": {"type": "text", "text": "fine"}}])
        else:
            self._result(number, contents=[{"uri": uri, "text": "fine"}], **(_FRESH if self._modern else {}))

    def _fault(self, number: Any, params: dict[str, Any]) -> None:  # noqa: C901, PLR0915  # a table of modes
        mode = self._mode
        secret = os.environ.get("SECRET", "")
        token = (params.get("_meta") or {}).get("progressToken")
        head = b'{"jsonrpc":"2.0","id":' + json.dumps(number).encode() + b',"result":'
        if mode == "exit-in-call":
            self._die(7, "line one\nfatal: out of luck")
        elif mode == "child-exit":
            self._die(5, "gone")
        elif mode == "exit-after-call":
            self._text(number, "bye")
            self._die(0, "")
        elif mode == "signal-in-call":
            os.kill(os.getpid(), signal.SIGKILL)
        elif mode in {"hang-in-call", "half-frame"}:
            self._raw(head + b'{"content":[{"ty' if mode == "half-frame" else b"")
        elif mode == "half-frame-exit":
            self._raw(head + b'{"content":[{"ty')
            self._die(9, "cut off")
        elif mode == "deaf":
            self._text(number, "I hear nothing")
            time.sleep(600)
        elif mode in {"late", "ask-abandoned"}:
            self._late = number
        elif mode == "unknown-part":
            self._result(number, content=[{"type": "text", "text": "known"}, {"type": "hologram", "light": 1}])
        elif mode == "not-a-number":
            self._raw(head + b'{"content":[],"structuredContent":{"at":NaN}}}\n')
        elif mode == "garbage":
            self._raw(b"\x00\x01\x02\nwhat is this\n")
        elif mode == "broken-frame":
            self._raw(head + b'{"content":[{"ty\n')
        elif mode == "huge-line":
            self._huge(head + b'{"content":[{"type":"text","text":"', b'"}]}}\n')
        elif mode == "huge-line-id-last":
            end = b'"}]},"jsonrpc":"2.0","id":' + json.dumps(number).encode() + b"}\n"
            self._huge(b'{"result":{"content":[{"type":"text","text":"', end)
        elif mode == "huge-line-no-id":
            self._huge(b"", b"\n")
        elif mode == "invalid-utf8":
            self._raw(head + b'{"content":[{"type":"text","text":"\xff\xfe\xfa"}]}}\n')
        elif mode == "half-character":
            self._text(number, "half \ud83d of \U0001f600")
        elif mode == "deep-json":
            self._raw(head + b"[" * MANY + b"]" * MANY + b"}\n")
        elif mode in {"many-elements", "many-parts"}:
            parts = b",".join([b'{"type":"text","text":""}'] * (540_000 if mode == "many-elements" else 20_000))
            self._raw(head + b'{"content":[' + parts + b"]}}\n")
        elif mode == "many-lines":
            self._raw(b"\n" * 500_000)
            self._text(number, "after the lines")
        elif mode == "not-an-object":
            self._raw(head + b'"a word"}\n')
        elif mode == "null-id":
            self._error(None, -32700, "cannot read that")
        elif mode == "notification-flood":
            threading.Thread(target=self._flood, daemon=True).start()
            self._text(number, "flooding")
        elif mode in {"progress-flood", "progress"}:
            count = 50_000 if mode == "progress-flood" else 3
            for step in range(count):
                self._note("notifications/progress", progressToken=token, progress=step + 1, total=count)
                if mode == "progress":
                    time.sleep(0.02)
            self._text(number, "done")
        elif mode == "request-flood":
            for step in range(20_000):
                self._send({"jsonrpc": "2.0", "id": f"ask-{step}", "method": "roots/list"})
            self._text(number, "asked")
        elif mode in {"list-changed-storm", "tool-disappears"}:
            self._gone = mode == "tool-disappears"
            for _ in range(1 if self._gone else 20_000):
                self._note("notifications/tools/list_changed")
            self._text(number, "changed")
        elif mode == "wrong-id":
            self._text(999_999, "for no call")
            self._text("no-call", "for no call")
            self._text(number, "for you")
        elif mode == "twice":
            self._text(number, "once")
            self._text(number, "twice")
        elif mode == "stderr-flood":
            for _ in range(HUGE // 100_000):
                sys.stderr.write("x" * 99_999 + "\n")
            self._text(number, "written")
        elif mode == "own-error":
            self._error(number, params["arguments"]["code"], "the printer is out of paper")
        elif mode == "secret-error":
            self._error(number, -32050, f"cannot log in with {secret}")
        elif mode == "secret-result":
            content = [{"type": "text", "text": f"cannot log in with {secret}"}]
            self._result(number, content=content, isError=True)
        elif mode == "secret-stderr":
            self._die(6, f"login with {secret} failed")
        elif mode == "meta":
            self._text(number, json.dumps(params.get("_meta")))
        elif mode in ASKS:
            self._ask(number, params)
        else:
            self._text(number, "nothing is wrong")

    def _ask(self, number: Any, params: dict[str, Any]) -> None:
        method, asked = ASKS[self._mode]
        if not self._modern:
            self._asked["ask"] = lambda answer: self._text(
                number, json.dumps({key: answer[key] for key in ("result", "error") if key in answer})
            )
            self._send({"jsonrpc": "2.0", "id": "ask", "method": method, "params": asked})
        elif "inputResponses" in params:
            self._text(number, json.dumps({"result": params["inputResponses"]["one"]}))
        else:
            wanted = {"one": {"method": method, "params": asked}}
            body = {"resultType": "input_required", "inputRequests": wanted, "requestState": "halfway"}
            self._send({"jsonrpc": "2.0", "id": number, "result": body})

    def _flood(self) -> None:
        line = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 200}}
        lines = (json.dumps(line) + "\n").encode() * 100
        with contextlib.suppress(OSError, ValueError):
            while True:
                self._raw(lines)

    def _huge(self, head: bytes, tail: bytes) -> None:
        self._raw(head)
        for _ in range(HUGE // 2**20):
            self._raw(b"y" * 2**20)
        self._raw(tail)

    def _note(self, method: str, **params: Any) -> None:
        if self._listener is not None and "progress" not in method:
            params["_meta"] = {SUBSCRIPTION: self._listener}
        self._send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def _text(self, number: Any, text: str) -> None:
        self._result(number, content=[{"type": "text", "text": text}])

    def _result(self, number: Any, **result: Any) -> None:
        typed = {"resultType": "complete"} if self._modern and self._mode != "untyped" else {}
        self._send({"jsonrpc": "2.0", "id": number, "result": {**typed, **result}})

    def _error(self, number: Any, code: int, text: str) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}})

    def _send(self, message: dict[str, Any]) -> None:
        self._raw((json.dumps(message) + "\n").encode())

    def _raw(self, data: bytes) -> None:
        with self._lock:
            self._out.write(data)
            self._out.flush()

    def _die(self, code: int, words: str) -> None:
        if words:
            sys.stderr.write(words + "\n")
            sys.stderr.flush()
        os._exit(code)


_FRESH = {"ttlMs": 0, "cacheScope": "public"}


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}", "inputSchema": {"type": "object"}}


def _tools() -> list[dict[str, Any]]:
    return [_tool(name) for name in ("echo", "pid", "listings", "cancels", "fault")]


def main() -> None:
    """Run the server that the command line asks for."""
    shown = "\n".join(f"  {mode:20} {what}" for mode, what in MODES.items())
    parser = argparse.ArgumentParser(
        description="An MCP server that misbehaves.",
        epilog=f"modes:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("mode", choices=sorted(MODES), metavar="MODE")
    parser.add_argument("--era", choices=("handshake", "modern"), default="handshake")
    chosen = parser.parse_args()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        FaultyServer(chosen.mode, modern=chosen.era == "modern").run()


if __name__ == "__main__":
    main()
