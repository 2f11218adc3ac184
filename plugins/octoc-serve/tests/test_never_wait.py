"""The gateway waits for no server that starts slowly: lists and searches are answered meanwhile."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder, stdio_script

SLOW = stdio_script("""
while not Path(sys.argv[1]).exists():
    time.sleep(0.01)


def tools():
    return [{"name": sys.argv[2], "inputSchema": {"type": "object"}, "description": "Brew a pot of tea"}]
""")
TRIGGERS = ("brew a pot of tea", "make some tea for us", "put the kettle on", "a cup of tea please")
BREW = {"description": "Brew a pot of tea"}
LIMIT_S = 20.0
"""Far more than an answer takes, and less than the 30 s after which the server counts as failed."""


def text_of(result: Any) -> str:
    """The texts of a result."""
    return "\n".join(part.text for part in result.content if part.type == "text")


@pytest.mark.parametrize("era", ["modern", "handshake"])
def test_a_slow_server_holds_up_neither_lists_nor_searches(
    tmp_path: Path, serve: Callable[..., Any], connect: Callable[..., Any], era: str
) -> None:
    """While servers start, a client lists and searches; the tools join, and are found, when they have started."""
    gate = tmp_path / "gate"
    builder = WorkspaceBuilder(tmp_path / "ws", plugins={"use": ["transport-mcp"]}, search={"bind": "never"})
    builder.file("slow.py", SLOW)
    for server in ("kettle", "samovar"):
        builder.server(server, sys.executable, "${workspaceFolder}/slow.py", str(gate), f"brew_in_{server}")
    builder.snapshot("kettle", [{"name": "brew_in_kettle", "inputSchema": {"type": "object"}, **BREW}])
    builder.capability("tea", TRIGGERS, server="kettle", allowed_tools=["kettle:*"])
    bundle = builder.build().bundle
    gateway = serve(bundle=bundle)

    async def scenario() -> None:
        async with connect(era, gateway) as heard:
            async with asyncio.timeout(LIMIT_S):
                names = [tool.name for tool in (await heard.client.list_tools()).tools]
                answer = text_of(await heard.client.call_tool("find_tools", {"query": "brew a pot of tea"}))
            assert "kettle__brew_in_kettle" not in names
            assert "kettle__brew_in_kettle" in answer
            assert "samovar__brew" not in answer
            assert "[octoc] activating: `tea`; the tools join the list of tools when their servers run." in answer
            gate.touch()
            async with asyncio.timeout(LIMIT_S):
                while "kettle__brew_in_kettle" not in names or "samovar__brew" not in answer:
                    names = [tool.name for tool in (await heard.client.list_tools()).tools]
                    answer = text_of(await heard.client.call_tool("find_tools", {"query": "brew in a samovar"}))
                    await asyncio.sleep(0.05)

    asyncio.run(scenario())
    (warning,) = [line for line in gateway.log if "octoc pin" in line]
    assert "server `samovar`" in warning
