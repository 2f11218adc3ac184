"""A call through octoc against the same call by a direct client, and through others that stand between, in one run.

Over stdio and over Streamable HTTP, the same server program each time, blocks of calls in turn. The others run where
they are installed, each in an environment of its own, since they want other versions of the MCP SDK:

    python -m venv DIR/fastmcp   && DIR/fastmcp/bin/pip install fastmcp==4.1.2
    python -m venv DIR/langchain && DIR/langchain/bin/pip install langchain-mcp-adapters==0.3.2
    python -m benchmarks.dispatch --peers DIR
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from octoc.compiler.workspace.build import build
from octoc.runtime import Runtime

BLOCK = 50
BLOCKS = 12
TOOL = "get_current_time"
ARGUMENTS: dict[str, Any] = {"timezone": "UTC"}
TIME_SERVER = str(Path(sys.executable).with_name("mcp-server-time"))
PEERS = ("fastmcp", "langchain")

Block = Callable[[int], Awaitable[list[float]]]
"""Makes so many calls, and returns how long each took, in seconds."""


async def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peers", type=Path, default=None, help="folder of the others' environments")
    peers: Path | None = options.parse_args().peers
    print(f"{'':<28} {'p50':>8} {'p95':>8}   against direct, at p50")
    await _table("stdio", peers, {"command": TIME_SERVER, "args": ["--local-timezone=UTC"]})
    with http_server() as url:
        await _table("Streamable HTTP", peers, {"type": "http", "url": url})


async def _table(kind: str, peers: Path | None, definition: dict[str, Any]) -> None:
    async with contextlib.AsyncExitStack() as stack:
        sides: dict[str, Block] = {
            "direct": await stack.enter_async_context(_direct(definition)),
            "octoc": await stack.enter_async_context(_octoc(definition)),
        }
        for peer in PEERS:
            python = None if peers is None else peers / peer / "bin" / "python"
            if python is None or not python.is_file():
                print(f"{kind}: {peer} is not installed (see --peers)")
                continue
            sides[peer] = await stack.enter_async_context(_peer(python, peer, definition))
        figures: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(-1, BLOCKS):
            for name, block in sides.items():
                taken = await block(BLOCK)
                if turn >= 0:  # the first block connects and warms up
                    figures[name] += taken
    middle = statistics.median(figures["direct"])
    for name, taken in figures.items():
        p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        print(f"{kind + ', ' + name:<28} {p50 * 1000:>6.2f}ms {p95 * 1000:>6.2f}ms   {p50 / middle:>6.2f}x")


@contextlib.asynccontextmanager
async def _octoc(definition: dict[str, Any]) -> AsyncIterator[Block]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.joinpath(".mcp.json").write_text(json.dumps({"mcpServers": {"time": definition}}), encoding="utf-8")
        outcome = build(root)
        assert outcome.bundle is not None
        async with Runtime.open(outcome.bundle, workspace=root) as runtime:
            session = runtime.session()

            async def call() -> None:
                answer = await session.call(f"time/{TOOL}", ARGUMENTS)
                assert answer.ok

            yield lambda count: timed(call, count)


@contextlib.asynccontextmanager
async def _direct(definition: dict[str, Any]) -> AsyncIterator[Block]:
    from mcp import Client, StdioServerParameters

    target = definition.get("url") or StdioServerParameters(command=definition["command"], args=definition["args"])
    async with Client(target) as client:

        async def call() -> None:
            answer = await client.call_tool(TOOL, ARGUMENTS)
            assert not answer.is_error

        yield lambda count: timed(call, count)


async def timed(call: Callable[[], Awaitable[None]], count: int) -> list[float]:
    """Make so many calls, and return how long each took, in seconds."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - start)
    return taken


@contextlib.asynccontextmanager
async def _peer(python: Path, peer: str, definition: dict[str, Any]) -> AsyncIterator[Block]:
    process = await asyncio.create_subprocess_exec(
        python,
        str(ROOT / "benchmarks" / "dispatch_peers.py"),
        peer,
        TOOL,
        json.dumps(definition),
        json.dumps(ARGUMENTS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    wanted, answered = process.stdin, process.stdout

    async def block(count: int) -> list[float]:
        wanted.write(f"{count}\n".encode())
        await wanted.drain()
        line = await answered.readline()
        assert line, f"{peer} ended"
        found: list[float] = json.loads(line)
        return found

    try:
        yield block
    finally:
        wanted.close()
        await process.wait()


@contextlib.contextmanager
def http_server(tools: int = 0) -> Iterator[str]:
    """Serve a tool of the same name and answer, and `tools` others, by the SDK's own server in another process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.dispatch_server", str(port), str(tools)], cwd=ROOT)
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    asyncio.run(main())
