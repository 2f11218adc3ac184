"""The longest step of the event loop while a server lists 9,000 tools: in parts, against all at once, in one run.

Processor time of the loop's thread, which other work on the machine does not stretch.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

from benchmarks.dispatch import http_server
from octoc.plugin.protocols import ServerTarget
from octoc.testing import FAULTY_STDIO
from octoc_transport_mcp import lenient
from octoc_transport_mcp.connection import open_connection

RUNS = 5
TOOLS = 9_000
TICK_S = 0.001
ONE_STEP = 1_000_000


async def longest_block(target: ServerTarget) -> float:
    """Return the longest processor time in seconds between two turns of the loop while `target` lists its tools."""
    connection = await open_connection(target.transport, target)
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(TICK_S)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    try:
        assert len((await connection.list_tools()).tools) >= TOOLS
    finally:
        watching.cancel()
        await connection.close()
    return longest


def main() -> None:
    """Measure and print."""
    print(f"{'':<20} {'in parts':>10} {'one step':>10} {'ratio':>7}   (medians of {RUNS})")
    arguments = ("-I", "-S", FAULTY_STDIO, "9000-tools")
    _row(ServerTarget(name="many", transport="stdio", command=sys.executable, args=arguments, timeout_s=120))
    with http_server(tools=TOOLS) as url:
        _row(ServerTarget(name="many", transport="http", url=url, timeout_s=120))


def _row(target: ServerTarget) -> None:
    at_once = lenient.TOOLS_AT_ONCE
    blocks: dict[int, list[float]] = {at_once: [], ONE_STEP: []}
    for _ in range(RUNS):
        for size, figures in blocks.items():
            lenient.TOOLS_AT_ONCE = size
            figures.append(asyncio.run(longest_block(target)))
    lenient.TOOLS_AT_ONCE = at_once
    parts, whole = (statistics.median(figures) for figures in blocks.values())
    print(f"{target.transport:<20} {parts * 1000:>8.0f}ms {whole * 1000:>8.0f}ms {whole / parts:>6.1f}x")


if __name__ == "__main__":
    main()
