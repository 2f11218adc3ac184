"""Names that a model wrote: whatever it tries, it learns nothing of what is outside its agent's registry."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.results import ToolFailure
from octoc.runtime import Runtime
from octoc.runtime.results.failures import as_mcp_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from octoc.runtime import Session
    from tests.runtime.conftest import Fleet

_word = st.sampled_from(["get", "list", "issue", "time", "secret", "user"])
_tool = st.lists(_word, min_size=1, max_size=2).map("_".join)
_fleet = st.dictionaries(
    st.sampled_from(["git", "time", "vault"]), st.lists(_tool, unique=True, max_size=3), max_size=3
)
_name = st.one_of(
    _tool,
    st.builds("{}/{}".format, st.sampled_from(["git", "time", "vault", "vaults"]), _tool),
    st.builds("{}__{}".format, st.sampled_from(["git", "time", "vault"]), _tool),
    st.text(max_size=12),
)


def _open(fleet: Fleet, own: Mapping[str, list[str]], others: Mapping[str, list[str]], *, proxy: bool) -> Session:
    """Return a session of an agent that has `own`, in a fleet where another agent has `others`."""
    for server, tools in own.items():
        fleet.server(f"own-{server}", tools)
    for server, tools in others.items():
        fleet.server(server, tools)
        fleet.capability(f"cap-{server}", fleet.grant(server), triggers=["get the secret"])
    ids = [f"own-{server}/{tool}" for server, tools in own.items() for tool in tools]
    fleet.agent("mine", tools=fleet.index(*ids), direct=fleet.index(*ids[:1]), proxy=proxy, capabilities=())
    fleet.agent("other", proxy=True)
    return fleet.open().session("mine")


@settings(max_examples=120)
@given(own=_fleet, others=_fleet, name=_name, proxy=st.booleans())
def test_an_answer_is_the_same_whatever_other_agents_have(
    new_fleet: Callable[[], Fleet], own: dict[str, list[str]], others: dict[str, list[str]], name: str, *, proxy: bool
) -> None:
    """Results, failures, hints and searches of one agent do not depend on the tools of another."""
    calls: list[tuple[str, Any]] = [
        (name, {}),
        ("call_mcp_tool", {"tool_name": name, "arguments": {}}),
        ("find_tools", {"query": name}),
        ("capability", {"action": "enable", "name": f"cap-{name}"}),
        ("capability", {"action": "discover", "intent": "get the secret"}),
    ]

    def answers(hidden: Mapping[str, list[str]]) -> list[Any]:
        session = _open(new_fleet(), own, hidden, proxy=proxy)
        return [as_mcp_result(outcome) | {"text": outcome.text} for outcome in asyncio.run(session.call_all(calls))]

    assert answers(others) == answers({})


@settings(max_examples=60)
@given(own=_fleet, others=_fleet, name=_name)
def test_near_names_are_of_the_registry(
    new_fleet: Callable[[], Fleet], own: dict[str, list[str]], others: dict[str, list[str]], name: str
) -> None:
    """Every near name is an alias that this session can call."""
    session = _open(new_fleet(), own, others, proxy=True)
    outcome = asyncio.run(session.call(name, {}))
    if isinstance(outcome, ToolFailure):
        callable_ = {session.state.tools.alias(index) for index in session.state.tools.reachable()}
        assert set(outcome.similar) <= callable_
        assert len(outcome.similar) <= max(5, len(session.state.loaded.servers))


def test_an_altered_bundle_is_a_failure_of_the_call(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An alteration found at the first read goes to the host's log, and the model gets a failure."""
    fleet.server("s", ["echo"])
    fleet.agent(proxy=True)
    path = fleet.write()
    data = path.read_bytes()
    wire = json.dumps({"name": "echo"})[:-1].encode()
    path.write_bytes(data.replace(wire, wire.replace(b"echo", b"ehco")))
    runtime = Runtime.open(path, plugins=fleet.open().plugins)
    with caplog.at_level(logging.ERROR, "octoc.runtime"), runtime.opened:
        outcome = asyncio.run(runtime.session().call("echo", {}))
    assert isinstance(outcome, ToolFailure)
    assert outcome.kind == "internal"
    assert "was not called" in caplog.text
    assert fleet.servers["s"].calls == []
