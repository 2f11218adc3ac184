"""What each private part of another library buys: a call with it against the same call without it, in one run.

`tests/house/private_parts.toml` lists them. The server is the MCP SDK's own over Streamable HTTP; `gateway` is
`octoc serve` before it, called by the SDK's client. Blocks of calls take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks.dispatch import ARGUMENTS, BLOCK, TOOL, Block, http_server, timed
from benchmarks.measure import ROOT
from octoc.plugin.protocols import ServerTarget
from octoc.results import ToolCall, ToolResult
from octoc_transport_mcp.connection import open_connection

BLOCKS = 20
GATEWAY = "import sys, octoc_serve.http_responses as r; {}; from octoc.cli import main; sys.exit(main())"
PLAIN = GATEWAY.format("r.USED = ('nothing',)")
JSON = GATEWAY.format("pass")


@contextlib.asynccontextmanager
async def _calls(url: str) -> AsyncIterator[Block]:
    connection = await open_connection("http", ServerTarget(name="time", transport="http", url=url, timeout_s=60))

    async def call() -> None:
        outcome = await connection.call(ToolCall(tool=TOOL, arguments=ARGUMENTS, timeout_s=60))
        assert isinstance(outcome, ToolResult)

    try:
        yield lambda count: timed(call, count)
    finally:
        await connection.close()


@contextlib.contextmanager
def _gateway(program: str, url: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        definition = {"mcpServers": {"time": {"type": "http", "url": url}}}
        Path(folder, ".mcp.json").write_text(json.dumps(definition), encoding="utf-8")
        words = ["serve", "--workspace", folder, "--transport", "http", "--port", "0"]
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words], cwd=ROOT, env={**os.environ}, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        try:
            yield next(line for line in process.stderr if "serving MCP at" in line).split("serving MCP at ")[1].strip()
        finally:
            process.terminate()
            process.communicate(timeout=60)


@contextlib.asynccontextmanager
async def _through(program: str, url: str) -> AsyncIterator[Block]:
    from mcp import Client

    with _gateway(program, url) as address:
        async with Client(address, mode="legacy") as client:
            wanted = {"tool_name": f"time/{TOOL}", "arguments": ARGUMENTS}

            async def call() -> None:
                assert not (await client.call_tool("call_mcp_tool", wanted)).is_error

            yield lambda count: timed(call, count)


async def main() -> None:
    """Measure and print."""
    with http_server() as url:
        async with contextlib.AsyncExitStack() as stack:
            sides = {"all": await stack.enter_async_context(_calls(url))}
            with patch("octoc_transport_mcp.connection.direct_calls", lambda *_: contextlib.nullcontext()):
                sides["direct calls"] = await stack.enter_async_context(_calls(url))
            sides["gateway"] = await stack.enter_async_context(_through(JSON, url))
            sides["JSON answers"] = await stack.enter_async_context(_through(PLAIN, url))
            figures: dict[str, list[float]] = {name: [] for name in sides}
            for turn in range(-1, BLOCKS):
                for name, block in sides.items():
                    taken = await block(BLOCK)
                    if turn >= 0:  # the first block connects and warms up
                        figures[name].append(statistics.median(taken))
    print(f"{'a call without':<16} {'p50':>8}   against all, median of {BLOCKS} turns")
    for name, whole in (("direct calls", "all"), ("JSON answers", "gateway")):
        base = figures[whole]
        ratio = statistics.median(one / other for one, other in zip(figures[name], base, strict=True))
        print(f"{name:<16} {statistics.median(figures[name]) * 1000:>6.2f}ms   {ratio:.2f}x")


if __name__ == "__main__":
    asyncio.run(main())
