"""langchain-mcp-adapters at work, in an environment of its own: argument JSON, one line of JSON with what it saw.

The JSON has the `connection`, as the adapters take it, and `task`, one of those below. Imports nothing of octoc.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


def text_of(answer: Any) -> str:
    """Return the text of a tool's answer, which is a list of parts, or a text."""
    content = getattr(answer, "content", answer)
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


async def work(session: Any, load: Any) -> dict[str, Any]:
    """Search with the user's words, load again what joined, call one, and read on in a long result."""

    async def named(session: Any) -> dict[str, Any]:
        return {tool.name: tool for tool in await load(session)}

    before = await named(session)
    found = await before["find_tools"].ainvoke({"query": "clock zones", "message": "what time is it in Tokyo?"})
    joined: dict[str, Any] = {}
    clocks: list[str] = []
    for _ in range(300):  # the tools of an unrecorded server join when it has started
        joined = await named(session)
        clocks = [name for name in joined if name.endswith("get_current_time")]
        if clocks:
            break
        await asyncio.sleep(0.1)
    (clock,) = clocks
    now = await joined[clock].ainvoke({"timezone": "Asia/Tokyo"})
    words = " ".join(f"w{number}" for number in range(2000))
    long = await joined["call_mcp_tool"].ainvoke({"tool_name": "plain__echo", "arguments": {"text": words}})
    handle = text_of(long).partition('handle="')[2].partition('"')[0]
    page = await joined["read_result"].ainvoke({"handle": handle, "offset": len(words) - 500})
    return {
        "before": list(before),
        "joined": list(joined),
        "found": text_of(found),
        "now": text_of(now),
        "long": text_of(long),
        "page": text_of(page),
    }


async def scope(session: Any, load: Any) -> dict[str, Any]:
    """List, call what there is, and ask for what there is not."""
    tools = {tool.name: tool for tool in await load(session)}
    refused = await session.call_tool("plain__fault", {})
    own = await tools["plain__echo"].ainvoke({"a": 1})
    return {"names": list(tools), "own": text_of(own), "refused": [refused.isError, refused.meta["octoc/kind"]]}


async def main() -> None:
    """Do what is asked, and print what was seen."""
    from langchain_mcp_adapters.client import MultiServerMCPClient  # type: ignore[import-not-found]
    from langchain_mcp_adapters.tools import load_mcp_tools  # type: ignore[import-not-found]

    asked = json.loads(sys.argv[1])
    heard: list[str] = []

    async def hear(message: Any) -> None:
        heard.append(getattr(getattr(message, "root", None), "method", type(message).__name__))

    connection = {**asked["connection"], "session_kwargs": {"message_handler": hear}}
    async with MultiServerMCPClient({"octoc": connection}).session("octoc") as session:
        told = await {"work": work, "scope": scope}[asked["task"]](session, load_mcp_tools)
    print(json.dumps({**told, "heard": heard}))  # noqa: T201  # this is how it answers


if __name__ == "__main__":
    asyncio.run(main())
