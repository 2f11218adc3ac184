"""Which limit a tool's results have."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings, ServerEntry, Settings, ToolPolicy
from octoc.results import ListedTool, ServerListing, ToolResult
from octoc.runtime.results.limits import ResultLimits, limits_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.runtime.conftest import Fleet

SETTINGS = ResultSettings(max_chars=1000, keep="both")
META = {"anthropic/maxResultSizeChars": 2000}


def _server(*tools: ToolPolicy, trusted: bool = False) -> ServerEntry:
    return ServerEntry(name="s", transport="stdio", trusted=trusted, tools=tools)


def test_the_first_glob_that_matches_counts() -> None:
    """A tool's own limit and its own end come from the first policy of its server that matches."""
    server = _server(ToolPolicy(glob="log_*", max_chars=50, keep="tail"), ToolPolicy(glob="*", max_chars=70))
    found = [limits_of(SETTINGS, server, tool) for tool in ("log_read", "other")]
    assert [(limits.max_chars, limits.keep) for limits in found] == [(50, "tail"), (70, "both")]
    assert limits_of(SETTINGS).max_chars == 1000


@pytest.mark.parametrize(
    "meta, max_chars",
    [
        (META, 2000),
        ({"anthropic/maxResultSizeChars": 10**9}, 500_000),
        ({"anthropic/maxResultSizeChars": "2000"}, 1000),
        ({"anthropic/maxResultSizeChars": True}, 1000),
        (None, 1000),
    ],
)
def test_a_trusted_server_may_say_its_own_limit(meta: Any, max_chars: int) -> None:
    """What a tool's `_meta` says counts up to 500,000, and only as a number."""
    assert limits_of(SETTINGS, _server(trusted=True), "t", lambda: meta).max_chars == max_chars


def test_an_untrusted_server_says_nothing_and_the_workspace_has_the_last_word() -> None:
    """`_meta` of a server that is not trusted is not asked for; a policy of octoc.toml counts before it."""
    assert limits_of(SETTINGS, _server(), "t", lambda: META).max_chars == 1000
    server = _server(ToolPolicy(glob="t", max_chars=50), trusted=True)
    assert limits_of(SETTINGS, server, "t", lambda: META).max_chars == 50


def test_the_foreign_profiles_keep_the_head() -> None:
    """Octo and Octopus know no other end; Octopus has 2,000 tokens where none were written."""
    server = _server(ToolPolicy(glob="t", keep="tail"))
    octopus = limits_of(attrs.evolve(SETTINGS, profile="octopus"), server, "t")
    assert (octopus.keep, octopus.tokens) == ("head", 2000)
    assert ResultLimits(profile="octopus", max_tokens=7).tokens == 7
    assert ResultLimits(profile="octoc").tokens == 0


def test_a_session_cuts_by_the_tools_own_limit(fleet: Fleet) -> None:
    """A policy reaches the call of the tool that it is for, and no other."""

    async def long(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("x" * 500)

    fleet.server("s", {"a": long, "b": long}, policies=[ToolPolicy(glob="a", max_chars=100)])
    fleet.agent(direct=(0, 1))
    session = fleet.open().session()
    first, second = asyncio.run(session.call("a")), asyncio.run(session.call("b"))
    assert isinstance(first, ToolResult)
    assert [len(part.text or "") for part in first.content] == [100, len("[octoc: kept 100 of 500 characters]")]
    assert second.text == "x" * 500


def test_a_tool_that_joined_later_has_its_own_meta(fleet: Fleet) -> None:
    """The limit that a trusted server's listing gives holds as soon as the server is known."""

    async def long(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("x" * 1500)

    fleet.settings = Settings(results=SETTINGS)
    fleet.server("s", {"a": long}, listed=True, trusted=True)
    fleet.agent(direct=(0,))
    runtime = fleet.open()
    tool, session = runtime.state.current.catalog[0].id, runtime.session()
    assert session.state.tools.scope.limits.of(tool).max_chars == 1000
    wire = {"name": "a", "inputSchema": {"type": "object"}, "_meta": META}
    tools = (ListedTool(name="a", description="", wire=wire),)
    listing = ServerListing(server_info={}, protocol_version="1", instructions=None, tools=tools)
    runtime.state.current.catalog.join(runtime.servers["s"], listing)
    assert session.state.tools.scope.limits.of(tool).max_chars == 2000
