"""A server of 2026-07-28 that leaves `resultType` out of its answer to `server/discover` is one of that version."""

from __future__ import annotations

import asyncio
import sys

import pytest

from octoc.plugin import ServerTarget
from octoc.testing import FAULTY_STDIO, faulty_http
from octoc_transport_mcp import octoc_make_transport


@pytest.mark.parametrize("streams", [False, True], ids=["json", "events"])
def test_an_untyped_discovery_is_complete(*, streams: bool) -> None:
    """The answer may come as JSON or as an event stream; `initialize` is not sent."""

    async def play() -> None:
        transport = octoc_make_transport("http")
        assert transport is not None
        async with faulty_http("modern", as_events=streams) as server:
            connection = await transport.connect(ServerTarget(name="far", transport="http", url=server.url))
            try:
                assert (await connection.list_tools()).protocol_version == "2026-07-28"
            finally:
                await connection.close()
            assert not any(b'"initialize"' in request.body for request in server.requests)

    asyncio.run(asyncio.wait_for(play(), 300))


def test_an_untyped_discovery_over_stdio_is_complete() -> None:
    """A server of that version is not asked to `initialize`, which it would refuse."""

    async def play() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        arguments = ("-I", "-S", FAULTY_STDIO, "untyped", "--era", "modern")
        target = ServerTarget(name="near", transport="stdio", command=sys.executable, args=arguments, timeout_s=120)
        connection = await transport.connect(target)
        try:
            assert (await connection.list_tools()).protocol_version == "2026-07-28"
        finally:
            await connection.close()

    asyncio.run(asyncio.wait_for(play(), 300))
