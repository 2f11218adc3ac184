"""Fleets that hypothesis draws: `fleets()`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from .fleets import AgentFacts, CapabilityFacts, Facts, GrantFacts, GroupFacts, ServerFacts, SkillFacts

SERVERS = ("mail", "docs", "ledger", "vault", "raw", "desk")
TOOLS = ("read", "read_all", "send", "pay_wages", "open", "list")
KINDS = ("supervisor", "worker", "picky", "manifest")
CAPABILITIES = ("write", "wages", "safe", "reports")
SKILLS = ("closing", "heist", "hello")
DOMAINS = ("finance", "hr")
AREAS = ("north", "south")
TENANTS = ("acme", "umbrella")


@st.composite
def fleets(draw: st.DrawFn) -> Facts:
    """Draw a fleet: servers that share names of tools, agents of all kinds, and scopes that cut through everything."""

    def some(values: Iterable[Any], least: int = 0, most: int = 3) -> tuple[Any, ...]:
        pool = list(values)
        if len(pool) < least or not pool:
            return ()
        return tuple(draw(st.lists(st.sampled_from(pool), min_size=least, max_size=most, unique=True)))

    servers = {
        name: ServerFacts(
            tools=some(TOOLS, 1, 5),
            listed=draw(st.sampled_from((True, True, False))),
            keyed=draw(st.sampled_from((False, False, True))),
        )
        for name in some(SERVERS, 2, 5)
    }
    patterns = [(name, "*") for name in servers]
    for name, server in servers.items():
        patterns += [(name, tool) for tool in server.tools]
        patterns += [(name, f"{tool[:4]}*") for tool in server.tools[:1]]
    patterns += [(name, "nothing*") for name, server in servers.items() if not server.listed]
    capabilities = {
        name: CapabilityFacts(patterns=some(patterns, 1, 3), domains=some(DOMAINS, 0, 1))
        for name in some(CAPABILITIES, 0, 3)
    }
    skills = {
        name: SkillFacts(capabilities=some(capabilities, 0, 2), domains=some(DOMAINS, 0, 1))
        for name in some(SKILLS, 0, 2)
    }
    tenants = {area: draw(st.sampled_from((None, *TENANTS))) for area in some(AREAS, 0, 2)}
    agents = {}
    for number, kind in enumerate(some(KINDS, 2, 4)):
        area = draw(st.sampled_from((None, *tenants)))
        name = {"supervisor": "supervisor", "manifest": f"{draw(st.sampled_from(DOMAINS))}:aide"}.get(
            kind, f"{kind}{number}"
        )
        agents[name] = AgentFacts(
            name=name,
            kind=kind,
            tools=some(patterns, 1, 3) if kind == "picky" else (),
            disallowed=some(patterns, 0, 2) if kind != "manifest" else (),
            boot=some(capabilities, 0, 2) if kind == "manifest" else (),
            skills=some(skills, 0, 1) if kind == "picky" else (),
            area=area,
            shared=some([one for one in tenants if one != area], 0, 1),
        )
    groups = {}
    for name in some(("one", "two", "three"), 1, 3):
        owner = draw(st.sampled_from(("area", "agent", "none")))
        groups[name] = GroupFacts(
            tools=some(patterns, 1, 3),
            area=draw(st.sampled_from(list(tenants))) if owner == "area" and tenants else None,
            agent=draw(st.sampled_from(list(agents))) if owner == "agent" else None,
            enabled=draw(st.sampled_from((True, True, True, False))),
        )
    grants = tuple(
        GrantFacts(
            agents=some(agents, 1, 3),
            groups=some(groups, 0, 2),
            tools=some(patterns, 0, 2),
            capabilities=some(capabilities, 0, 3),
            skills=some(skills, 0, 2),
        )
        for _ in range(draw(st.integers(1, 3)))
    )
    deny = ((draw(st.sampled_from(list(agents))), draw(st.sampled_from(patterns))),)
    return Facts(
        profile=draw(st.sampled_from(("deny", "allow"))),
        style=draw(st.sampled_from(("qualified", "bare"))),
        encoder=draw(st.booleans()),
        servers=servers,
        capabilities=capabilities,
        skills=skills,
        agents=agents,
        tenants=tenants,
        groups=groups,
        grants=grants,
        deny=deny if draw(st.integers(0, 3)) == 0 else (),
    )
