"""A backend of `benchmarks.serve_load`: a tool over Streamable HTTP, served by the MCP SDK in its own process."""

from __future__ import annotations

import sys


def main() -> None:
    """Serve on the port that is the first argument, until terminated."""
    from mcp.server import MCPServer

    server = MCPServer("echo", log_level="ERROR")

    @server.tool()
    def echo(nonce: str) -> str:
        """Return what was sent."""
        return nonce

    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))


if __name__ == "__main__":
    main()
