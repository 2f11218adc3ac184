"""What a tool is called is judged among its agent's own tools: a namesake that another agent has changes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import attrs
import pytest

from octoc.runtime.catalog.aliases import AgentAliases

from .fleets import AgentFacts, Facts, GrantFacts, ServerFacts, reduced
from .looks import build, join_all, opened
from .test_law import compared

FACTS = Facts(
    profile="deny",
    style="bare",
    encoder=False,
    servers={
        "mail": ServerFacts(tools=("read", "send")),
        "ledger": ServerFacts(tools=("read", "pay")),
        "a": ServerFacts(tools=("b__c", "read_all")),
        "a__b": ServerFacts(tools=("c",)),
        "raw": ServerFacts(tools=("send", "open"), listed=False),
        "desk": ServerFacts(tools=("open", "list"), listed=False),
    },
    capabilities={},
    skills={},
    agents={"clerk": AgentFacts(name="clerk", kind="worker"), "thief": AgentFacts(name="thief", kind="worker")},
    tenants={},
    groups={},
    grants=(
        GrantFacts(agents=("clerk",), tools=(("mail", "read"), ("a", "b__c"), ("desk", "*"))),
        GrantFacts(agents=("thief",), tools=(("ledger", "*"), ("a__b", "*"), ("mail", "send"), ("raw", "*"))),
    ),
)


@pytest.mark.parametrize("style", ["bare", "qualified"])
def test_a_namesake_that_an_agent_does_not_have_changes_no_alias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """Nor does one that another agent's server brings at run time; by the bundle's aliases alone it would show."""
    facts = attrs.evolve(FACTS, style=style)
    full, own = build(facts, tmp_path / "full"), build(reduced(facts, "clerk"), tmp_path / "own")
    asyncio.run(compared(facts, "clerk", full, own, tmp_path, joined=True))
    monkeypatch.setattr(AgentAliases, "_own", property(lambda _: {}))
    with pytest.raises(AssertionError):
        asyncio.run(compared(facts, "clerk", full, own, tmp_path, joined=True))


async def _called(root: Path, facts: Facts) -> dict[str, dict[str, str]]:
    """Return each agent's tools, and what it calls them, when all servers have been listed."""
    async with opened(*build(facts, root), root) as runtime:
        await join_all(runtime)
        found = {}
        for agent in facts.agents:
            surface = runtime.session(agent).state.tools
            found[agent] = {
                str(runtime.state.current.catalog[index].id): surface.alias(index) for index in surface.known()
            }
        return found


def test_each_agent_has_the_short_names_that_are_free_for_it(tmp_path: Path) -> None:
    """Two agents may each call a tool `read`; one that has two of a name calls them by their servers."""
    called = asyncio.run(_called(tmp_path, FACTS))
    assert called["clerk"] == {"mail/read": "read", "a/b__c": "b__c", "desk/open": "open", "desk/list": "list"}
    assert called["thief"] == {
        "ledger/read": "read",
        "ledger/pay": "pay",
        "a__b/c": "c",
        "mail/send": "send",
        "raw/send": "raw__send",  # it came later
        "raw/open": "open",
    }


def test_an_alias_stays_when_a_namesake_joins(tmp_path: Path) -> None:
    """What a model was shown does not change its meaning: the tool that comes later gets the longer alias."""
    both = GrantFacts(agents=("clerk",), tools=(("raw", "open"), ("desk", "open")))
    facts = attrs.evolve(FACTS, grants=(*FACTS.grants, both))

    async def run() -> None:
        async with opened(*build(facts, tmp_path), tmp_path) as runtime:
            session = runtime.session("clerk")
            assert (await session.call("desk/open")).ok
            assert session.state.tools.names().resolve("open") is not None
            assert (await session.call("raw/open")).ok
            assert "desk" in (await session.call("open")).text
            assert "raw" in (await session.call("raw__open")).text

    asyncio.run(run())
