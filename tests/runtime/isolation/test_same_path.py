"""What is out of scope is answered on the same path as what does not exist: as many steps, not only the same words."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.runtime import Runtime

from .fleets import AgentFacts, CapabilityFacts, Facts, GrantFacts, ServerFacts, SkillFacts
from .looks import build, join_all, opened, plain
from .steps import counted

THEIRS, NOBODYS = "zq1", "zq2"
"""Equally long, and near to nothing that the agent has."""
FACTS = Facts(
    profile="deny",
    style="qualified",
    encoder=True,
    servers={
        "mail": ServerFacts(tools=("send", "read")),
        THEIRS: ServerFacts(tools=(THEIRS, "list")),
        f"{THEIRS}u": ServerFacts(tools=(THEIRS,), listed=False),
    },
    capabilities={
        "write": CapabilityFacts(patterns=(("mail", "send"),)),
        THEIRS: CapabilityFacts(patterns=((THEIRS, "*"),)),
    },
    skills={"closing": SkillFacts(), THEIRS: SkillFacts(capabilities=(THEIRS,))},
    agents={"clerk": AgentFacts(name="clerk", kind="worker"), "thief": AgentFacts(name="thief", kind="worker")},
    tenants={},
    groups={},
    grants=(
        GrantFacts(agents=("clerk",), tools=(("mail", "*"),), capabilities=("write",), skills=("closing",)),
        GrantFacts(
            agents=("thief",),
            tools=((THEIRS, "*"), (f"{THEIRS}u", "*")),
            capabilities=(THEIRS,),
            skills=(THEIRS,),
        ),
    ),
)
CALLS: dict[str, tuple[str, Any]] = {
    "id": ("{0}/{0}", {}),
    "alias": ("{0}__{0}", {}),
    "bare name": ("{0}", {}),
    "other spelling": ("mcp__{0}__{0}", {"text": "x"}),
    "unlisted": ("{0}u/{0}", {}),
    "proxy": ("call_mcp_tool", {"tool_name": "{0}__{0}"}),
    "search": ("find_tools", {"query": "{0}"}),
    "detail": ("find_tools", {"detail": ["{0}__{0}", "{0}u__{0}"]}),
    "enable": ("capability", {"action": "enable", "name": "{0}"}),
    "disable": ("capability", {"action": "disable", "name": "{0}"}),
    "discover": ("capability", {"action": "discover", "intent": "{0}"}),
    "use": ("skill", {"action": "use", "name": "{0}"}),
    "forget": ("skill", {"action": "forget", "name": "{0}"}),
    "list": ("skill", {"action": "list", "pattern": "{0}"}),
}


def _filled(value: Any, name: str) -> Any:
    return json.loads(json.dumps(value).replace("{0}", name))


async def _steps(runtime: Runtime, call: tuple[str, Any], name: str) -> tuple[Any, Counter[str]]:
    """Return the answer of a fresh session, and how often each line of octoc ran for it."""
    session = runtime.session("clerk")
    tool, arguments = _filled(list(call), name)
    outcome, lines = await counted(lambda: session.call(tool, arguments))
    await session.close()
    return json.dumps(plain(outcome)).replace(name, "{0}"), lines


Fleet = tuple[Path, Any, Path]


@pytest.fixture(scope="module", params=[False, True], ids=["words", "vectors"])
def fleet(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Fleet:
    """The fleet's bundle, its world and its folder; with an encoder and without one."""
    root = tmp_path_factory.mktemp("paths")
    return *build(attrs.evolve(FACTS, encoder=request.param), root / "full"), root


@pytest.mark.parametrize("how", CALLS)
def test_what_is_out_of_scope_takes_as_many_steps_as_what_does_not_exist(fleet: Fleet, how: str) -> None:
    """Each line of octoc runs as often for the one name as for the other, whether or not the servers are listed."""
    bundle, world, root = fleet
    if how == "search" and world.facts.encoder:
        pytest.skip("two words have two vectors, whatever there is in the index")

    async def run() -> None:
        for joined in (False, True):
            async with opened(bundle, world, root) as runtime:
                if joined:
                    await join_all(runtime)
                for name in (THEIRS, NOBODYS):  # what is made with the first call is made before any is counted
                    await _steps(runtime, CALLS[how], name)
                theirs, nobodys = [await _steps(runtime, CALLS[how], name) for name in (THEIRS, NOBODYS)]
                assert theirs == nobodys

    asyncio.run(run())


def test_another_tool_of_the_agents_own_takes_other_steps(fleet: Fleet) -> None:
    """So that the count can tell one path from another."""
    bundle, world, root = fleet

    async def run() -> None:
        async with opened(bundle, world, root) as runtime:
            for name in ("mail/send", "mail/none"):
                await _steps(runtime, (name, {}), NOBODYS)
            _, mine = await _steps(runtime, ("mail/send", {}), NOBODYS)
            _, nobodys = await _steps(runtime, ("mail/none", {}), NOBODYS)
            assert mine != nobodys

    asyncio.run(run())


def test_the_count_is_the_same_however_long_a_thread_takes(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coroutine that waits for a busy machine is resumed more often, and runs no line of octoc more."""
    bundle, world, root = fleet

    async def run(turns: int) -> Any:
        async def in_turns(work: Callable[..., Any], *arguments: Any) -> Any:
            for _ in range(turns):
                await asyncio.sleep(0)
            return work(*arguments)

        monkeypatch.setattr(asyncio, "to_thread", in_turns)
        async with opened(bundle, world, root) as runtime:
            await _steps(runtime, CALLS["discover"], NOBODYS)
            return await _steps(runtime, CALLS["discover"], NOBODYS)

    assert asyncio.run(run(0)) == asyncio.run(run(3))
