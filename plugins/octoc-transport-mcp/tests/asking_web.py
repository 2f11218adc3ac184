"""A Streamable HTTP server of the handshake era whose tool `pay` asks the user, on the call's stream or beside it.

It prints its port. The arguments of `pay` are `way` (`own` or `beside`) and `gate`: the question waits for that file.
"""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

FORM = {"type": "object", "properties": {"sure": {"type": "boolean"}}}


async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Ask, and answer with what was answered."""
    arguments = params.arguments or {}
    gate = Path(arguments["gate"])
    gate.with_suffix(".begun").touch()
    while not gate.exists():  # noqa: ASYNC110, ASYNC240  # a file is what the test can leave for another process
        await asyncio.sleep(0.01)
    related = context.request_id if arguments["way"] == "own" else None
    try:
        answer = await context.session.elicit_form("Transfer 900 EUR?", FORM, related_request_id=related)
        text = answer.action
    except MCPError as error:
        text = f"refused: {error.error.message}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def tools(*_: Any) -> types.ListToolsResult:
    """List the tool."""
    return types.ListToolsResult(tools=[types.Tool(name="pay", input_schema={"type": "object"})])


def main() -> None:
    """Serve on a free port until killed."""
    manager = StreamableHTTPSessionManager(Server("bank", on_list_tools=tools, on_call_tool=call))

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive()).get("body", b"") if scope["method"] == "POST" else b""
        message = json.loads(body or b"{}")
        if message.get("method") == "server/discover":  # a server of the handshake era does not know it
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"Bad Request: no session"})
            return
        first = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(first, None) or await receive()

        await manager.handle_request(scope, again if body else receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)  # noqa: T201  # the test reads it

    async def run() -> None:
        async with manager.run():
            config = uvicorn.Config(serve, log_level="critical", lifespan="off")
            await uvicorn.Server(config).serve(sockets=[listener])

    asyncio.run(run())


if __name__ == "__main__":
    main()
