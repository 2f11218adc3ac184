"""Small MCP servers over stdio, each the text of a program that needs only Python."""

from __future__ import annotations

from textwrap import dedent

_BEGIN = """\
import json, os, sys, time
from pathlib import Path

hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}


def tools():
    return []


def call(name, arguments):
    return None


"""
_SERVE = """

def answered(method, params):
    if method == "initialize":
        return hello
    if method == "tools/list":
        listed = tools()
        return {"tools": [{"name": t, "inputSchema": {"type": "object"}} if isinstance(t, str) else t for t in listed]}
    answer = call(params["name"], params.get("arguments") or {}) if method == "tools/call" else None
    return {"content": [{"type": "text", "text": answer}]} if isinstance(answer, str) else answer


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answered(message["method"], message.get("params") or {})
        body = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


def stdio_script(body: str, *, after: str = "") -> str:
    """Return the text of a server of the handshake era, for `python server.py` or `python -c`.

    Args:
        body: Python that runs before the server reads; it may import `json`, `os`, `sys`, `time` and `Path` no more. It
            may define `tools()`, a list of names and of tools in wire form; `call(name, arguments)`, the text, the
            result in wire form, or None for an error; and change `hello`, the result of `initialize`.
        after: Python that runs when stdin has ended.
    """
    return _BEGIN + dedent(body).strip() + "\n" + _SERVE + dedent(after)
