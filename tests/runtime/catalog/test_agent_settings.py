"""An agent's settings from its area or overrides hold in its sessions and in no other agent's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.model import AgentSettings, Gate
from octoc.results import ToolFailure, ToolResult
from octoc.runtime.values import AUTO_OFF
from tests.runtime.conftest import Fleet


async def _long(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("x" * 500 + "y" * 500)


def _fleet(folder: Path, settings: AgentSettings | None) -> Fleet:
    folder.mkdir(parents=True, exist_ok=True)
    fleet = Fleet(folder)
    fleet.server("s", {"long": _long})
    for name in ("docker", "kubernetes"):
        fleet.server(name, ["run"])
        fleet.capability(name, fleet.grant(name), triggers=[f"use {name} now"])
    fleet.gate = Gate(kind="octomind", threshold=0.5, margin=0.0)
    fleet.agent("own", settings=settings, direct=fleet.index("s/long"))
    fleet.agent("other", direct=fleet.index("s/long"))
    return fleet


def test_results_are_cut_as_the_agent_has_it(tmp_path: Path) -> None:
    """Length and side of the cut are the agent's; another agent of the bundle sees the whole text."""
    runtime = _fleet(tmp_path, AgentSettings(max_chars=50, keep="tail")).open()
    own = asyncio.run(runtime.session("own").call("s__long", {}))
    other = asyncio.run(runtime.session("other").call("s__long", {}))
    assert isinstance(own, ToolResult)
    assert isinstance(other, ToolResult)
    assert (len(other.text), len(own.text) < 300) == (1000, True)
    assert ("y" * 50 in own.text, "xxx" in own.text) == (True, False)


def test_a_limit_in_tokens_is_the_agents(tmp_path: Path) -> None:
    """`max_tokens` cuts for the agent that has it."""
    runtime = _fleet(tmp_path, AgentSettings(max_tokens=10)).open()
    own, other = (asyncio.run(runtime.session(name).call("s__long", {})) for name in ("own", "other"))
    assert isinstance(own, ToolResult)
    assert isinstance(other, ToolResult)
    assert (len(own.truncations), len(other.truncations)) == (1, 0)


def test_failures_have_the_words_of_the_agents_profile(tmp_path: Path) -> None:
    """One agent is answered in Octopus's words, another in octoc's: names, arguments and servers that fail."""
    fleet = _fleet(tmp_path, AgentSettings(results_profile="octopus"))
    runtime = fleet.open()
    own, other = runtime.session("own"), runtime.session("other")
    fleet.servers["s"].broken = "no such program"
    for name, arguments in (("nothing", {}), ("s__long", {"text": 7}), ("s__long", {})):
        outcomes = [asyncio.run(session.call(name, arguments)) for session in (own, other)]
        assert all(isinstance(one, ToolFailure) for one in outcomes)
        assert "error" in json.loads(outcomes[0].text)
        assert outcomes[1].text.startswith(("[Error]", "[Tool error]"))


def test_a_message_activates_nothing_where_the_agent_has_auto_off(tmp_path: Path) -> None:
    """With `auto = false` only the model activates; the same message activates for another agent."""

    async def run() -> None:
        async with _fleet(tmp_path, AgentSettings(auto=False)).open() as runtime:
            own, other = runtime.session("own"), runtime.session("other")
            routing = await own.on_user_message("please use docker now")
            assert (routing.capability, routing.reason, own.capabilities) == (None, AUTO_OFF, ())
            await other.on_user_message("please use docker now")
            assert other.capabilities == ("docker",)
            await own.activate("docker")
            assert own.capabilities == ("docker",)

    asyncio.run(run())


def test_how_many_are_active_is_the_agents_own(tmp_path: Path) -> None:
    """One may have one capability active and not two; the other has the workspace's limit."""

    async def run() -> None:
        async with _fleet(tmp_path, AgentSettings(max_active=1)).open() as runtime:
            own, other = runtime.session("own"), runtime.session("other")
            for name in ("docker", "kubernetes"):
                await own.activate(name)
                await other.activate(name)
            assert own.capabilities == ("kubernetes",)
            assert other.capabilities == ("docker", "kubernetes")

    asyncio.run(run())


def test_tokens_of_active_tools_are_limited_as_the_agent_has_it(tmp_path: Path) -> None:
    """A capability whose schemas are over the agent's own limit is refused to it alone."""

    async def run() -> None:
        async with _fleet(tmp_path, AgentSettings(max_active_tokens=1)).open() as runtime:
            assert "max_active_tokens" in await runtime.session("own").activate("docker")
            assert "enabled" in await runtime.session("other").activate("docker")

    asyncio.run(run())


def test_a_reload_brings_the_agents_new_settings(tmp_path: Path) -> None:
    """A session that switches bundles has the new limits at once, and capabilities over them are evicted."""

    async def run() -> None:
        async with _fleet(tmp_path / "one", None).open() as runtime:
            session = runtime.session("own")
            await session.activate("docker")
            await session.activate("kubernetes")
            await runtime.reload(_fleet(tmp_path / "two", AgentSettings(max_active=1, max_chars=50)).write())
            await session.renew()
            assert session.capabilities == ("kubernetes",)
            outcome = await session.call("s__long", {})
            assert isinstance(outcome, ToolResult)
            assert len(outcome.text) < 300
            assert attrs.evolve(runtime.bundle.settings.results, max_chars=50) == session.settings.results

    asyncio.run(run())
