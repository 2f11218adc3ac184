"""One of the others that `benchmarks.dispatch` compares with, in its own environment: it imports nothing of octoc.

Arguments: which, the tool, the server's definition and the call's arguments as JSON. Each line on standard input is a
number of calls to make; the answer is one line, how long each took in seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Call = Callable[[], Awaitable[Any]]


@contextlib.asynccontextmanager
async def _fastmcp(tool: str, definition: dict[str, Any], arguments: dict[str, Any]) -> AsyncIterator[Call]:
    from fastmcp import Client  # type: ignore[import-not-found]
    from fastmcp.server import create_proxy  # type: ignore[import-not-found]

    async with Client({"mcpServers": {"time": definition}}) as behind, Client(create_proxy(behind)) as client:
        yield lambda: client.call_tool(tool, arguments)


@contextlib.asynccontextmanager
async def _langchain(tool: str, definition: dict[str, Any], arguments: dict[str, Any]) -> AsyncIterator[Call]:
    from langchain_mcp_adapters.client import MultiServerMCPClient  # type: ignore[import-not-found]
    from langchain_mcp_adapters.tools import load_mcp_tools  # type: ignore[import-not-found]

    transport = "streamable_http" if "url" in definition else "stdio"
    known = {key: value for key, value in definition.items() if key != "type"}
    async with MultiServerMCPClient({"time": {**known, "transport": transport}}).session("time") as session:
        loaded = {one.name: one for one in await load_mcp_tools(session)}
        yield lambda: loaded[tool].ainvoke(arguments)


async def main() -> None:
    """Call as often as standard input says."""
    which, tool, definition, arguments = sys.argv[1:]
    opened = {"fastmcp": _fastmcp, "langchain": _langchain}[which]
    async with opened(tool, json.loads(definition), json.loads(arguments)) as call:
        while line := await asyncio.to_thread(sys.stdin.readline):
            taken = []
            for _ in range(int(line)):
                start = time.perf_counter()
                await call()
                taken.append(time.perf_counter() - start)
            print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
