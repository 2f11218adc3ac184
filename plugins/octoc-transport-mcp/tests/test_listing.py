"""A long list of tools is validated in parts: the event loop has turns between them, and the list is the same."""

from __future__ import annotations

import asyncio
import itertools
import sys
from typing import Any

import mcp_types.methods
import pytest

from octoc.plugin import ServerListing, ServerTarget
from octoc.testing import FAULTY_STDIO
from octoc_transport_mcp import octoc_make_transport
from octoc_transport_mcp.lenient import TOOLS_AT_ONCE

FAULTY = ("-I", "-S", FAULTY_STDIO)


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_loop_has_turns_while_9000_tools_are_validated(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK gets few tools at once, another task runs before each part, and no tool is lost."""
    turns = 0
    parts: list[tuple[int, int]] = []
    validate = mcp_types.methods.validate_server_result

    def noted(method: str, version: str, data: Any, **options: Any) -> None:
        if method == "tools/list":
            parts.append((len(data["tools"]), turns))
        validate(method, version, data, **options)

    monkeypatch.setattr(mcp_types.methods, "validate_server_result", noted)

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def play() -> ServerListing:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        arguments = (*FAULTY, "9000-tools", "--era", era)
        target = ServerTarget(name="many", transport="stdio", command=sys.executable, args=arguments, timeout_s=120)
        connection = await transport.connect(target)
        counting = asyncio.create_task(count())
        try:
            return await connection.list_tools()
        finally:
            counting.cancel()
            await connection.close()

    listing = asyncio.run(play())
    names = [tool.name for tool in listing.tools]
    assert [name for name in names if name.startswith("tool-")] == [f"tool-{number}" for number in range(9_000)]
    assert sum(tools for tools, _ in parts) == len(names)
    assert max(tools for tools, _ in parts) <= TOOLS_AT_ONCE
    before = [turn for _, turn in parts]
    assert all(one < other for one, other in itertools.pairwise(before)), before


# A server of 350 tools on two pages: one tool of the first page has no schema, one of the second repeats a name.
PAGES = """
import json, sys
tools = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(350)]
tools[120] = {"name": "broken"}
tools[340] = tools[3]
info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "pages", "version": "1"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = info
    elif message["method"] == "tools/list":
        second = (message.get("params") or {}).get("cursor") == "more"
        answer["result"] = {"tools": tools[300:]} if second else {"tools": tools[:300], "nextCursor": "more"}
    else:
        answer["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(answer), flush=True)
"""


def test_a_bad_tool_of_a_long_list_is_reported_under_its_number() -> None:
    """Parts of a page change neither the order of the tools nor the numbers of those that are left out."""

    async def play() -> ServerListing:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        target = ServerTarget(
            name="pages", transport="stdio", command=sys.executable, args=("-I", "-c", PAGES), timeout_s=120
        )
        connection = await transport.connect(target)
        try:
            return await connection.list_tools()
        finally:
            await connection.close()

    listing = asyncio.run(play())
    assert [tool.name for tool in listing.tools] == [f"t{number}" for number in range(350) if number not in {120, 340}]
    without_schema, twice = listing.left_out
    assert without_schema.startswith("number 121: it has the name `broken` and cannot be read")
    assert twice == "number 341: it has the name `t3` of another one before it"
