"""The first line of the Python SDK at work, in an environment of its own: argument the address, one line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


async def main() -> None:
    """List, search, call, read a resource, get a prompt and answer a question; print what was seen."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client  # type: ignore[attr-defined,unused-ignore]
    from mcp.types import ElicitResult

    async def elicit(*_: Any) -> Any:
        return ElicitResult(action="accept", content={"username": "octo", "email": "octo@example.com"})

    async with (
        streamablehttp_client(sys.argv[1]) as (read, write, _),
        ClientSession(read, write, elicitation_callback=elicit) as session,  # type: ignore[arg-type,unused-ignore]
    ):
        await session.initialize()

        async def call(name: str, **arguments: Any) -> str:
            content: Any = (await session.call_tool(name, arguments)).content
            return str(content[0].text)

        resource: Any = await session.read_resource("test://static-text")  # type: ignore[arg-type,unused-ignore]
        prompt: Any = await session.get_prompt("test_simple_prompt")
        seen = {
            "tools": [tool.name for tool in (await session.list_tools()).tools],
            "found": await call("find_tools", query="simple text"),
            "called": await call("call_mcp_tool", tool_name="test_simple_text", arguments={}),
            "resources": [str(one.uri) for one in (await session.list_resources()).resources],
            "resource": resource.contents[0].text,
            "prompts": [one.name for one in (await session.list_prompts()).prompts],
            "prompt": prompt.messages[0].content.text,
            "answered": await call("call_mcp_tool", tool_name="test_elicitation", arguments={"message": "Who?"}),
        }
    print(json.dumps(seen))  # noqa: T201  # this is how it answers


if __name__ == "__main__":
    asyncio.run(main())
