"""The HTTP server of `benchmarks.dispatch` and `benchmarks.listing`: one tool or many, served by the MCP SDK."""

from __future__ import annotations

import sys
from datetime import UTC, datetime


def main() -> None:
    """Serve on the port that is the first argument, with as many more tools as the second says, until terminated."""
    from mcp.server import MCPServer

    server = MCPServer("time", log_level="WARNING")

    @server.tool()
    def get_current_time(timezone: str) -> dict[str, str]:
        """Return the current time in a zone."""
        return {"timezone": timezone, "datetime": datetime.now(UTC).isoformat()}

    for number in range(int(sys.argv[2])):
        server.add_tool(get_current_time, name=f"tool-{number}")
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))


if __name__ == "__main__":
    main()
