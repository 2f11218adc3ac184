"""A call over stdio through octoc, against the same call through the bare MCP SDK, call by call in one run."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import ratio, row
from octoc.compiler.build import build
from octoc.runtime import Runtime

CALLS = 300
ARGUMENTS: dict[str, Any] = {"timezone": "UTC"}
SERVER = str(Path(sys.executable).with_name("mcp-server-time"))


async def main() -> None:
    """Measure and print."""
    from mcp import Client, StdioServerParameters

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        definition = {"mcpServers": {"time": {"command": SERVER, "args": ["--local-timezone=UTC"]}}}
        root.joinpath(".mcp.json").write_text(json.dumps(definition), encoding="utf-8")
        outcome = build(root)
        assert outcome.bundle is not None
        through_octoc: list[float] = []
        bare: list[float] = []
        async with (
            Runtime.open(outcome.bundle, workspace=root) as runtime,
            Client(StdioServerParameters(command=SERVER, args=["--local-timezone=UTC"])) as client,
        ):
            session = runtime.session()
            for turn in range(-20, CALLS):
                start = time.perf_counter()
                answer = await session.call("time/get_current_time", ARGUMENTS)
                middle = time.perf_counter()
                direct = await client.call_tool("get_current_time", ARGUMENTS)
                end = time.perf_counter()
                assert answer.ok
                assert not direct.is_error
                if turn >= 0:  # the first calls connect and warm up
                    through_octoc.append(middle - start)
                    bare.append(end - middle)
        row("call through octoc", through_octoc)
        row("call through the bare SDK", bare)
        ratio("octoc / SDK", through_octoc, bare)


if __name__ == "__main__":
    asyncio.run(main())
