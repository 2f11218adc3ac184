"""A stdio server of the SDK whose tool `book` asks twice before it answers, in the 2026-07-28 revision.

The first round asks for a name, a completion (only if the client can) and roots; the second confirms. The answer is
JSON of what it was given.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
PROMPT = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="greet"))


def asked(message: str) -> types.ElicitRequest:
    """Return a question for the user."""
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=NAME))


async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
    """Ask for what is missing, and answer with it."""
    can = context.session.client_capabilities
    if params.name == "sample" and (can is None or can.sampling is None):
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "it needs a model", needed)
    given = {name: one.model_dump(mode="json") for name, one in (params.input_responses or {}).items()}
    state = json.loads(params.request_state) if params.request_state else {}
    if "guest" in given:
        asks: dict[str, types.InputRequest] = {"sure": asked("Book it?")}
        return types.InputRequiredResult(input_requests=asks, request_state=json.dumps({"first": given}))
    if "sure" in given:
        text = json.dumps({**state, "sure": given["sure"]["action"]})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])
    requests: dict[str, types.InputRequest] = {"guest": asked("Which name?")}
    if can is not None and can.sampling is not None:
        greeting = types.CreateMessageRequestParams(messages=[PROMPT], max_tokens=10)
        requests["greeting"] = types.CreateMessageRequest(params=greeting)
    if can is not None and can.roots is not None:
        requests["where"] = types.ListRootsRequest()
    return types.InputRequiredResult(input_requests=requests, request_state=json.dumps({}))


async def tools(*_: Any) -> types.ListToolsResult:
    """List the tools."""
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in ("book", "sample")]
    )


async def main() -> None:
    """Serve until stdin ends."""
    server: Server[Any] = Server("booking", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (source, sink):
        await server.run(source, sink, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
