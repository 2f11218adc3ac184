"""The law of scopes: in random fleets, an agent shows byte for byte the same as in a fleet of what it has.

Further tests remove each check that the law needs, and see the law broken.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from octoc.compiler.scope.exclusions import NOTHING, exclusions_of
from octoc.runtime.catalog.agent_scope import AgentScope
from octoc.runtime.catalog.session_tools import SessionTools
from octoc.runtime.loaded_bundle import LoadedBundle
from octoc.runtime.results.store import ResultStore
from octoc.runtime.skills import use
from octoc.runtime.tools import dispatch
from octoc.search import rank as ranking

from .fleets import (
    AgentFacts,
    CapabilityFacts,
    Facts,
    GrantFacts,
    GroupFacts,
    ServerFacts,
    SkillFacts,
    has,
    reduced,
    search_is_own,
)
from .looks import Questions, World, build, differences, join_all, kept_by_another, logged, opened, reaches, seen
from .random_fleets import fleets

EXAMPLES = int(os.environ.get("OCTOC_FLEETS", "6"))
"""How many fleets: a few for every change, hundreds for a long run."""
UNKNOWN = "r-" + "a" * 16
Built = tuple[Path, World]


async def compared(
    facts: Facts, agent: str, full: Built, own: Built, root: Path, *, joined: bool, locked: bool = False
) -> None:
    """Assert that an agent shows in the full fleet what it shows in its own, and reaches what it has.

    Args:
        joined: whether others have been at work before: servers without snapshots are listed, long results kept.
        locked: whether no variable is set: none that a server which is connected by then would need.
    """
    tenants = {name: facts.tenant_of(name) for name in facts.agents}
    answers, logs, ears = [], [], []
    for bundle, world in (full, own):
        async with opened(bundle, world, root) as runtime:
            if joined:
                await join_all(runtime)
            other = await kept_by_another(runtime, agent, tenants) if joined and bundle == full[0] else None
            world.heard.clear()
            world.locked = locked
            asked = Questions.about(facts, other[1] if other else UNKNOWN, searches=search_is_own(facts, agent))
            with logged() as lines:
                answers.append(await seen(runtime, agent, tenants[agent], asked))
            world.locked = False
            logs.append(lines)
            ears.append([(f"{told[:3]}", f"{told}".replace(asked.handle, "")) for told in world.heard])
    found = differences(*answers) + differences(*ears)
    found += [] if logs[0] == logs[1] else [f"logged: {logs}"]
    assert not found, "\n".join([f"{agent}: {len(found)} differ", *found[:5], f"{facts}"])
    async with opened(*full, root) as runtime:
        await reaches(runtime, agent, tenants[agent], has(facts, agent), facts)


async def hold(facts: Facts, root: Path, *, joined: bool, locked: bool) -> None:
    """Assert the law for every agent of one fleet."""
    full = build(facts, root / "full")
    for number, agent in enumerate(facts.agents):
        own = build(reduced(facts, agent), root / f"own{number}")
        await compared(facts, agent, full, own, root, joined=joined, locked=locked)


CAPABILITY_OUT_OF_REACH = Facts(
    profile="deny",
    style="qualified",
    encoder=False,
    servers={"mail": ServerFacts(tools=("read",))},
    capabilities={"write": CapabilityFacts(patterns=(("mail", "*"),))},
    skills={},
    agents={
        "supervisor": AgentFacts(name="supervisor", kind="supervisor"),
        "hr:aide": AgentFacts(name="hr:aide", kind="manifest"),
    },
    tenants={},
    groups={"one": GroupFacts(tools=(("mail", "*"),), agent="hr:aide")},
    grants=(GrantFacts(agents=("supervisor",)),),
    deny=(("supervisor", ("mail", "*")),),
)
"""The aide has the group's tools, and no capability that brings them."""


SERVERS_IN_ORDER = attrs.evolve(
    CAPABILITY_OUT_OF_REACH,
    profile="allow",
    servers={name: ServerFacts(tools=("list", "send"), listed=False) for name in ("ledger", "vault")},
    capabilities={"write": CapabilityFacts(patterns=(("ledger", "list"), ("vault", "*"), ("ledger", "nothing*")))},
    agents={
        "supervisor": AgentFacts(name="supervisor", kind="supervisor", disallowed=(("ledger", "list*"),)),
        "worker": AgentFacts(name="worker", kind="worker"),
    },
    groups={},
    grants=(GrantFacts(agents=("supervisor",), capabilities=("write",)),),
    deny=(),
)
"""The first pattern of a capability is excluded, and a later one names the same server."""


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@example(facts=SERVERS_IN_ORDER, before="alone")
@example(facts=CAPABILITY_OUT_OF_REACH, before="alone")
@example(
    facts=attrs.evolve(
        CAPABILITY_OUT_OF_REACH,
        agents={"hr:aide": AgentFacts(name="hr:aide", kind="manifest", boot=("write",))},
        grants=(),
        deny=(),
    ),
    before="alone",
)
@given(facts=fleets(), before=st.sampled_from(("alone", "others", "no variables")))
def test_what_an_agent_does_not_have_might_as_well_not_be_there(facts: Facts, before: str) -> None:
    """Prompts, blocks, searches, calls, switches, messages, counts, logs: as in the fleet that has nothing else.

    What each agent has comes from a model that shares nothing with octoc, and all of it is found and answers.
    """
    with tempfile.TemporaryDirectory() as root:
        asyncio.run(hold(facts, Path(root), joined=before == "others", locked=before == "no variables"))


FACTS = Facts(
    profile="deny",
    style="qualified",
    encoder=True,
    servers={
        "mail": ServerFacts(tools=("send", "read")),
        "ledger": ServerFacts(tools=("pay_wages", "read"), keyed=True),
        "raw": ServerFacts(tools=("open", "list"), listed=False),
    },
    capabilities={
        "write": CapabilityFacts(patterns=(("mail", "send"), ("ledger", "pay_wages"), ("raw", "list"))),
        "wages": CapabilityFacts(patterns=(("ledger", "*"),)),
    },
    skills={"closing": SkillFacts(capabilities=("write", "wages")), "heist": SkillFacts(capabilities=("wages",))},
    agents={
        "clerk": AgentFacts(name="clerk", kind="worker"),
        "thief": AgentFacts(name="thief", kind="worker", area="south"),
        "hr:aide": AgentFacts(name="hr:aide", kind="manifest", boot=("write",)),
    },
    tenants={"south": "umbrella"},
    groups={},
    grants=(
        GrantFacts(agents=("clerk",), tools=(("mail", "*"), ("raw", "open")), skills=("closing",)),
        GrantFacts(agents=("hr:aide",), tools=(("mail", "send"),)),
        GrantFacts(
            agents=("thief",),
            tools=(("mail", "*"), ("ledger", "*"), ("raw", "*")),
            capabilities=("write", "wages"),
            skills=("closing", "heist"),
        ),
    ),
)
CLERK = "clerk"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Built, Path]:
    """The fixed fleet, and that of its clerk alone."""
    root = tmp_path_factory.mktemp("fleet")
    return build(FACTS, root / "full"), build(reduced(FACTS, CLERK), root / "own"), root


def test_the_fixed_fleet_keeps_the_law(built: tuple[Built, Built, Path]) -> None:
    """What the tests below break is whole."""
    asyncio.run(compared(FACTS, CLERK, *built, joined=True))


def test_what_a_capability_needs_for_others_is_not_missing(tmp_path: Path) -> None:
    """A variable of a server that is withheld is not named, and does not keep the rest from being activated."""
    hers = GroupFacts(tools=(("ledger", "*"),), agent="thief")
    facts = attrs.evolve(FACTS, profile="allow", groups={"hers": hers}, grants=())
    full, own = build(facts, tmp_path / "full"), build(reduced(facts, CLERK), tmp_path / "own")
    asyncio.run(compared(facts, CLERK, full, own, tmp_path, joined=True, locked=True))

    async def enable() -> str:
        full[1].locked = True
        async with opened(*full, tmp_path) as runtime:
            return (await runtime.session(CLERK).call("capability", {"action": "enable", "name": "write"})).text

    told = asyncio.run(enable())
    assert "enabled" in told
    assert "LEDGER_KEY" not in told


def _every(runtime_part: Any) -> tuple[int, ...]:
    return tuple(range(len(runtime_part.catalog)))


def _all_names(session: Any, name: str) -> tuple[str, ...]:
    return tuple(session.tools.alias(index) for index in range(len(session.loaded.catalog)))


BROKEN: dict[str, tuple[Any, str, Any]] = {
    "what is reachable": (SessionTools, "reachable", lambda self: list(_every(self.scope))),
    "what is deferred": (AgentScope, "deferred", _every),
    "globs of what joined": (
        AgentScope,
        "joined",
        lambda self, _: [n for one in self._servers for n in self.catalog.joined(one)],
    ),
    "capabilities by name": (AgentScope, "switchable", property(lambda self: tuple(sorted(self.capabilities)))),
    "near names": (dispatch, "_similar", _all_names),
    "the mask of the search": (ranking, "_mask", lambda *_: None),
    "skills by name": (use, "available_skills", lambda session: tuple(sorted(session.loaded.skills))),
    "owners of handles": (
        ResultStore,
        "_find",
        lambda self, _, handle: self._entries.get(handle),
    ),
}


@pytest.mark.parametrize("check", BROKEN)
def test_without_a_check_at_run_time_the_law_does_not_hold(
    built: tuple[Built, Built, Path], monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """Each of them, switched off alone, lets something be seen."""
    full, own, root = built
    monkeypatch.setattr(*BROKEN[check])
    with pytest.raises(AssertionError):
        asyncio.run(compared(FACTS, CLERK, full, own, root, joined=True))


_CONFINED = "octoc.compiler.scope.stage.confined"
COMPILED: dict[str, tuple[str, Callable[..., Any]]] = {
    "the ceiling": (
        _CONFINED,
        lambda _, registry, *__: attrs.evolve(registry, confined=True),
    ),
    "the ceiling, and its existence": (_CONFINED, lambda _, registry, *__: registry),
}


@pytest.mark.parametrize("check", COMPILED)
def test_without_a_check_at_build_time_the_law_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """Whatever a session does then, the bundle has given its agent too much."""
    own = build(reduced(FACTS, CLERK), tmp_path / "own")
    monkeypatch.setattr(*COMPILED[check])
    full = build(FACTS, tmp_path / "full")
    with pytest.raises(AssertionError):
        asyncio.run(compared(FACTS, CLERK, full, own, tmp_path, joined=False))


def test_a_capability_brings_no_more_than_the_registry_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ungranted part of a capability shows nowhere, and its check is needed."""
    hers = GroupFacts(tools=(("ledger", "*"), ("raw", "l*")), agent="thief")
    facts = attrs.evolve(FACTS, profile="allow", groups={"hers": hers}, grants=())
    full, own = build(facts, tmp_path / "full"), build(reduced(facts, CLERK), tmp_path / "own")
    asyncio.run(compared(facts, CLERK, full, own, tmp_path, joined=True))
    monkeypatch.setattr(AgentScope, "registered", property(lambda self: frozenset(range(len(self.catalog)))))
    with pytest.raises(AssertionError):
        asyncio.run(compared(facts, CLERK, full, own, tmp_path, joined=True))


EXCLUDING = attrs.evolve(
    FACTS,
    profile="allow",
    agents={
        CLERK: AgentFacts(
            name=CLERK, kind="worker", disallowed=(("ledger", "*"), ("mail", "read"), ("raw", "l*"), ("raw", "shred"))
        )
    },
    servers={**FACTS.servers, "raw": ServerFacts(tools=("open", "list", "shred"), listed=False)},
    capabilities={
        **FACTS.capabilities,
        "listing": CapabilityFacts(patterns=(("raw", "list"), ("ledger", "read"))),
        "opening": CapabilityFacts(patterns=(("raw", "*"),)),
    },
    tenants={},
    grants=(),
)
"""The clerk's file excludes all of a recorded server, and parts of another and of one without a snapshot."""
NO_EXCLUSION: dict[str, tuple[str, Any]] = {
    "of what joined": ("octoc.runtime.catalog.agent_scope.AgentScope._is_excluded", lambda *_: False),
    "of anything": ("octoc.compiler.scope.registry.exclusions_of", lambda *_: NOTHING),
    "of recorded tools": (
        "octoc.compiler.scope.registry.exclusions_of",
        lambda *found: attrs.evolve(exclusions_of(*found), tools=frozenset()),
    ),
    "of servers without a snapshot": (
        "octoc.compiler.scope.registry.exclusions_of",
        lambda *found: attrs.evolve(exclusions_of(*found), globs=frozenset()),
    ),
}


@pytest.mark.parametrize("joined", [False, True])
def test_what_an_agents_own_file_excludes_might_as_well_not_be_there(tmp_path: Path, *, joined: bool) -> None:
    """In listing, search, direct and deferred calls, and capabilities, whether or not a server was recorded."""
    asyncio.run(hold(EXCLUDING, tmp_path, joined=joined, locked=False))


@pytest.mark.parametrize("what", NO_EXCLUSION)
def test_without_an_exclusion_the_law_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Each part of the check is needed."""
    own = build(reduced(EXCLUDING, CLERK), tmp_path / "own")
    monkeypatch.setattr(*NO_EXCLUSION[what])
    full = build(EXCLUDING, tmp_path / "full")
    with pytest.raises(AssertionError):
        asyncio.run(compared(EXCLUDING, CLERK, full, own, tmp_path, joined=True))


def _told(runtime: Any, agent: str, tenant: str | None) -> str:
    with pytest.raises(LookupError) as refused:
        runtime.session(agent, tenant=tenant)
    return str(refused.value)


def test_another_tenants_agent_is_one_that_does_not_exist(
    built: tuple[Built, Built, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tenant's agent shows in no message, near name or list; without the check it does."""
    (bundle, world), (own, own_world), root = built

    async def ask() -> None:
        async with opened(bundle, world, root) as runtime, opened(own, own_world, root) as alone:
            for tenant in (None, "acme", ""):
                for name in ("thief", "thef", "thieff", "absent"):
                    told = _told(runtime, name, tenant)
                    assert told.count("thief") == (name in ("thief", "thieff"))
                    assert told == _told(runtime, name, "unknown")
                assert set(runtime.agents_of(tenant)) == {*alone.agents, "hr:aide"}
            assert runtime.session("thief", tenant="umbrella").agent.name == "thief"

    asyncio.run(ask())
    monkeypatch.setattr(LoadedBundle, "agents_of", lambda self, _: self.agents)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        asyncio.run(ask())
