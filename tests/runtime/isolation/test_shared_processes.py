"""The law of stderr: words of a real process that tenants share reach its only caller, or the log alone."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octoc.plugin.manager import load_plugins
from octoc.results import ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.tools.server_call import Outcome

from .test_failure_texts import BANK

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

EXAMPLES = int(os.environ.get("OCTOC_FLEETS", "4"))
AGENTS = {"payer": "a", "clerk": "a", "reader": "b", "owner": "c"}
"""Agents by name, and their tenants."""
ENDS = ("done", "error", "die", "refused")
"""How a call ends; `refused` ends the process before, and the next one at its start."""
Call = tuple[str, str]
"""An agent, and how its call ends."""


def _words(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, ToolResult) else f"{outcome.message}\n{outcome.text}"


class Shared:
    """One bank and the sessions of all agents."""

    def __init__(self, runtime: Runtime, start: Path) -> None:
        self._runtime = runtime
        self._start = start
        self._sessions = {name: runtime.session(name, tenant=tenant) for name, tenant in AGENTS.items()}
        self._canaries: dict[str, str] = {}
        self._callers: set[str] = set()
        """Who has called the process that runs."""

    async def together(self, calls: Sequence[Call]) -> None:
        """Make calls side by side, and assert that each reads no word of another agent's calls."""
        made = [await self._prepared(agent, end) for agent, end in calls]
        outcomes = await asyncio.gather(*(self._call(*one) for one in made))
        for (agent, end, canary), outcome in zip(made, outcomes, strict=True):
            words = _words(outcome)
            foreign = [word for word, whose in self._canaries.items() if whose != agent and word in words]
            assert not foreign, f"{foreign} is in what {agent} reads: {words}"
            heard = end in ("error", "refused") or self._callers == {agent}
            assert outcome.ok == (end == "done") or len(calls) > 1, f"{end}: {words}"
            assert len(calls) > 1 or outcome.ok or not heard or canary in words, f"{canary} is missing: {words}"
        if any(end in ("die", "refused") for _, end in calls):
            self._callers.clear()

    async def _prepared(self, agent: str, end: str) -> tuple[str, str, str]:
        canary = f"canary{len(self._canaries)}x"
        self._canaries[canary] = agent
        if end == "refused":
            closing = self._runtime.state.current.pool.drop("bank")
            await asyncio.gather(*closing)
            self._start.write_text(f"licence {canary} ended", encoding="utf-8")
        else:
            self._callers.add(agent)
        return agent, end, canary

    async def _call(self, agent: str, end: str, canary: str) -> Outcome:
        session: Session = self._sessions[agent]
        try:
            return await session.call("bank/pay", {"iban": canary, "end": end})
        finally:
            if end == "refused":
                self._start.unlink(missing_ok=True)


def hold(fleet: Fleet, folder: Path, rounds: Sequence[Sequence[Call]]) -> None:
    """Assert the law for rounds of calls, of which each is made side by side."""
    script, start = folder / "bank.py", folder / "start"
    script.write_text(BANK, encoding="utf-8")
    start.unlink(missing_ok=True)
    program: dict[str, Any] = {"command": sys.executable, "args": (str(script), str(start))}
    fleet.server("bank", ["pay"], retry="never", **program)
    fleet.settings = attrs.evolve(fleet.settings, breaker_failures=0)
    for agent, tenant in AGENTS.items():
        fleet.agent(agent, tenants=(tenant,), direct=fleet.index("bank/pay"))

    async def body() -> None:
        async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"])) as runtime:
            shared = Shared(runtime, start)
            for calls in rounds:
                await shared.together(calls)

    with (
        patch("octoc.runtime.servers.server_pool.reconnect_pause", lambda _: 0.0),
        patch("octoc.runtime.tools.server_call.pause_before", lambda *_: 0.0),
    ):
        asyncio.run(body())


MIXED: Sequence[Sequence[Call]] = (
    (("payer", "done"),),
    (("payer", "die"),),
    (("payer", "done"), ("reader", "done")),
    (("reader", "die"),),
    (("reader", "refused"),),
    (("payer", "done"), ("owner", "error")),
    (("clerk", "die"), ("reader", "done"), ("owner", "error")),
)


def _refused_alone(rounds: Sequence[Sequence[Call]]) -> Sequence[Sequence[Call]]:
    """Return rounds in which a call that is refused is alone, so that no other begins its attempt to connect."""
    return [calls if len(calls) == 1 else [call for call in calls if call[1] != "refused"] for calls in rounds]


@settings(max_examples=EXAMPLES)
@example(rounds=MIXED)
@given(
    rounds=st.lists(
        st.lists(st.tuples(st.sampled_from(sorted(AGENTS)), st.sampled_from(ENDS)), min_size=1, max_size=4),
        min_size=2,
        max_size=6,
    ).map(_refused_alone)
)
def test_what_a_shared_process_writes_reaches_no_other_caller(
    new_fleet: Callable[[], Fleet], tmp_path: Path, rounds: Sequence[Sequence[Call]]
) -> None:
    """With one caller its words are in the failure; with more, only an answer and a failed start speak to their own."""
    hold(new_fleet(), tmp_path, rounds)


def test_a_transport_that_does_not_count_callers_breaks_the_law(
    new_fleet: Callable[[], Fleet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of callers is what keeps a process's last words from others."""
    monkeypatch.setattr("octoc_transport_mcp.connection.McpConnection._note_caller", lambda *_: None)
    with pytest.raises(AssertionError):
        hold(new_fleet(), tmp_path, MIXED)
