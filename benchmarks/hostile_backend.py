"""A backend of `benchmarks.hostile_tenant`: tools that answer at once, late, much or never, over Streamable HTTP."""

from __future__ import annotations

import sys


def main() -> None:
    """Serve on the port that is the first argument, until terminated."""
    import anyio
    from mcp.server import MCPServer

    server = MCPServer("hostile", log_level="ERROR")

    @server.tool()
    async def echo(nonce: str) -> str:
        """Return what was sent."""
        return nonce

    @server.tool()
    async def wait(seconds: float) -> str:
        """Answer after some seconds."""
        await anyio.sleep(seconds)
        return "waited"

    @server.tool()
    async def hang() -> str:
        """Answer long after the time limit of the call."""
        await anyio.sleep(3600)
        return "late"

    @server.tool(structured_output=False)
    async def big(size: int) -> str:
        """Return a long text."""
        return "x" * size

    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))


if __name__ == "__main__":
    main()
