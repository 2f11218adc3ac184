"""A stdio server of the SDK, of the handshake era, that asks to confirm transfers even if no caller waits for them.

`transfer` waits for its gate, a file, then asks, and writes what it was answered beside the gate. `hold` only waits for
its gate. Both say by a file that they have begun,
and a transfer that it was cancelled.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

SCHEMA = {"type": "object", "properties": {"gate": {"type": "string"}, "how": {"type": "string"}}}
FORM = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
PROMPT = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="sum up account 4711"))
WORK: set[asyncio.Task[str]] = set()


async def opened(gate: Path) -> None:
    """Wait until a file is there."""
    gate.with_suffix(".begun").touch()
    while not gate.exists():  # noqa: ASYNC110, ASYNC240  # a file is what the test can leave for another process
        await asyncio.sleep(0.01)


async def transferred(session: Any, gate: Path, how: str) -> str:
    """Ask once the gate is open, and write what was answered."""
    await opened(gate)
    try:
        if how == "sampling":
            answer = await session.send_request(
                types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[PROMPT], max_tokens=10)),
                types.CreateMessageResult,
            )
        else:
            answer = await session.elicit_form("Transfer 900 EUR from account 4711?", FORM)
        text = json.dumps(answer.model_dump(by_alias=True, exclude_none=True, mode="json"))
    except MCPError as error:
        text = json.dumps({"error": error.error.message})
    aside = gate.with_suffix(".aside")
    aside.write_text(text, encoding="utf-8")
    aside.rename(gate.with_suffix(".answer"))
    return text


async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Make a call; the work of a transfer goes on when the call is cancelled."""
    arguments = params.arguments or {}
    text = str(os.getpid())
    if params.name == "transfer":
        work = transferred(context.session, Path(arguments["gate"]), arguments.get("how", "elicitation"))
        task = asyncio.create_task(work)
        WORK.add(task)
        try:
            text = await asyncio.shield(task)
        except asyncio.CancelledError:
            Path(arguments["gate"]).with_suffix(".left").touch()  # for the test
            raise
    elif params.name == "hold":
        await opened(Path(arguments["gate"]))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def tools(*_: Any) -> types.ListToolsResult:
    """List the tools."""
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema=SCHEMA) for name in ("transfer", "hold", "pid")]
    )


async def main() -> None:
    """Serve until stdin ends."""
    server: Server[Any] = Server("bank", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (read, write), server.lifespan(server) as state:
        options = server.create_initialization_options()
        await serve_loop(server, read, write, lifespan_state=state, init_options=options)


if __name__ == "__main__":
    sys.exit(anyio.run(main))
