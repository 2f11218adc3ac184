"""FastMCP's search transform over the same tools, in its own environment: it imports nothing of octoc.

Reads tools and queries as JSON from standard input; the answer is one line, how long each search took in seconds. Only
the search itself is timed, after its index was made, and nothing of the protocol around it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

RUNS = 60


async def main() -> None:
    """Measure and print."""
    from fastmcp.server.transforms.search import BM25SearchTransform  # type: ignore[import-not-found]
    from fastmcp.tools.base import Tool  # type: ignore[import-not-found]

    given = json.load(sys.stdin)
    tools = [
        Tool(name=tool["name"], description=tool["description"], parameters=tool["schema"]) for tool in given["tools"]
    ]
    transform = BM25SearchTransform(max_results=15)
    taken = []
    for turn in range(-3, RUNS):
        query = given["queries"][turn % len(given["queries"])]
        start = time.perf_counter()
        found = await transform._search(tools, query)  # noqa: SLF001  # its tool adds more to this, not less
        if turn >= 0:
            taken.append(time.perf_counter() - start)
        assert len(found) <= 15
    print(json.dumps(taken))


if __name__ == "__main__":
    asyncio.run(main())
