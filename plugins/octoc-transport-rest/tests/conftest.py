"""A connection of this transport to a server that answers with given bytes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from octoc.plugin import Connection, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.testing import RestConversation, visit_rest_server
from octoc_transport_rest import octoc_make_transport


@pytest.fixture
def visit() -> Callable[..., Any]:
    """A function of a server's part and of what to do with a connection to it: what came of that, and the server."""

    def visiting(talk: RestConversation, doing: Callable[[Connection], Awaitable[Any]], **fields: Any) -> Any:
        transport = octoc_make_transport("rest")
        assert transport is not None
        return asyncio.run(visit_rest_server(transport, talk, doing, **fields))

    return visiting


@pytest.fixture
def call_of(visit: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a server's part: the outcome of one call to it."""

    def calling(talk: RestConversation, timeout_s: float = 20.0, **fields: Any) -> ToolResult | ToolFailure:
        async def call(connection: Connection) -> ToolResult | ToolFailure:
            outcome = await connection.call(ToolCall(tool="find", arguments={"q": 1}, timeout_s=timeout_s))
            assert connection.alive
            return outcome

        outcome: ToolResult | ToolFailure = visit(talk, call, **fields)[0]
        return outcome

    return calling


@pytest.fixture
def listing_of(visit: Callable[..., Any]) -> Callable[..., ServerListing]:
    """A function of a server's part: its listing. Raises: ConnectFailedError."""

    def listing(talk: RestConversation, **fields: Any) -> ServerListing:
        async def asked(connection: Connection) -> ServerListing:
            return await connection.list_tools()

        found: ServerListing = visit(talk, asked, **fields)[0]
        return found

    return listing
