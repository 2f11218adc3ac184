"""The least that can stand between, for `benchmarks.serve_load`: the MCP SDK's server, which calls by the SDK's client.

Arguments: the port, and the backends' URLs. The tool `s0__echo` is the first one's `echo`, and so on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any


async def main() -> None:
    """Serve until terminated."""
    import mcp_types as types
    import uvicorn
    from mcp import Client
    from mcp.server import Server

    port, *urls = sys.argv[1:]
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for url in urls]
        (echo,) = (await clients[0].list_tools()).tools
        tools = [echo.model_copy(update={"name": f"s{number}__echo"}) for number in range(len(urls))]
        for client in clients:
            await client.list_tools()  # the SDK would ask for them after its first call

        async def listed(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
            return types.ListToolsResult(tools=tools)

        async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            server, _, name = params.name.partition("__")
            return await clients[int(server[1:])].call_tool(name, params.arguments)

        app = Server[Any]("bare", version="1", on_list_tools=listed, on_call_tool=call).streamable_http_app()
        config = uvicorn.Config(app, port=int(port), http="h11", log_level="error", access_log=False, ws="none")
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main())
