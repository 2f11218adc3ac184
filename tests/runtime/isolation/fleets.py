"""Random fleets, as descriptions: what is in the workspace, and (by a model of its own, not octoc's) who has what.

The model is written from docs/scopes.md alone, and imports nothing of the compiler or the runtime.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

Pattern = tuple[str, str]
"""(server, glob): only a `*` at the end stands for any text."""

KEEPER = "keeper"
SPARE = tuple(("spare", f"hoard_{place}") for place in "abcdefghijklmnopqrstuvwx")
"""In every fleet, so that something is always withheld: an agent of its own, which has these tools for itself.

They are more than an answer lists, and one has a capability: so every fleet has a gate, and vectors of tools.
"""


@attrs.frozen(kw_only=True)
class ServerFacts:
    """A server; one that is not `listed` has no snapshot, so the build does not know its tools.

    One that is `keyed` needs a variable of its own name.
    """

    tools: tuple[str, ...]
    listed: bool = True
    keyed: bool = False


@attrs.frozen(kw_only=True)
class CapabilityFacts:
    """A capability: the patterns of its servers' tools, in its own order."""

    patterns: tuple[Pattern, ...]
    domains: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class SkillFacts:
    """A skill, and the capabilities that it asks for."""

    capabilities: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class AgentFacts:
    """An agent.

    `kind` is `supervisor`, `worker` (reaches all), `picky` (a worker with `tools`) or `manifest`; a manifest is of the
    domain that its name begins with, and `boot` are its capabilities. `disallowed` are its `disallowedTools`.
    """

    name: str
    kind: str
    tools: tuple[Pattern, ...] = ()
    disallowed: tuple[Pattern, ...] = ()
    boot: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    area: str | None = None
    shared: tuple[str, ...] = ()

    @property
    def domain(self) -> str | None:
        """The domain of a manifest; None of all others."""
        return self.name.partition(":")[0] if self.kind == "manifest" else None

    @property
    def proxy(self) -> bool:
        """Whether it searches, and calls what is not shown."""
        return self.kind in ("supervisor", "worker")


@attrs.frozen(kw_only=True)
class GroupFacts:
    """A tool group of an area, of an agent, or of neither."""

    tools: tuple[Pattern, ...]
    area: str | None = None
    agent: str | None = None
    enabled: bool = True

    @property
    def is_owned(self) -> bool:
        """Whether it withholds its tools from others."""
        return self.area is not None or self.agent is not None


@attrs.frozen(kw_only=True)
class GrantFacts:
    """A grant."""

    agents: tuple[str, ...]
    groups: tuple[str, ...] = ()
    tools: tuple[Pattern, ...] = ()
    capabilities: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Facts:
    """A fleet."""

    profile: str
    style: str
    encoder: bool
    servers: Mapping[str, ServerFacts]
    capabilities: Mapping[str, CapabilityFacts]
    skills: Mapping[str, SkillFacts]
    agents: Mapping[str, AgentFacts]
    tenants: Mapping[str, str | None]
    """Area -> its tenant."""
    groups: Mapping[str, GroupFacts]
    grants: tuple[GrantFacts, ...]
    deny: tuple[tuple[str, Pattern], ...] = ()
    """(agent, tools) that must never be; the agent goes without."""

    def tools(self) -> Iterator[Pattern]:
        """Yield (server, tool) of every tool, also of unlisted servers."""
        return ((name, tool) for name, server in self.servers.items() for tool in server.tools)

    def listed(self, server: str) -> bool:
        """Tell whether the build knows a server's tools."""
        return self.servers[server].listed

    def areas_of(self, agent: str) -> frozenset[str]:
        """Return the areas that an agent is in."""
        facts = self.agents[agent]
        return frozenset(([] if facts.area is None else [facts.area]) + list(facts.shared))

    def tenant_of(self, agent: str) -> str | None:
        """Return a tenant that may use the agent; None where all callers may."""
        found = sorted(tenant for area in self.areas_of(agent) if (tenant := self.tenants[area]) is not None)
        return found[0] if found else None


@attrs.frozen(kw_only=True)
class Has:
    """What an agent has: listed tools, globs of unlisted servers, and what exists for it by name.

    What `excluded` matches it does not have.
    """

    tools: frozenset[Pattern]
    globs: frozenset[Pattern]
    excluded: frozenset[Pattern]
    capabilities: frozenset[str]
    boot: frozenset[str]
    skills: frozenset[str]

    def __contains__(self, tool: Pattern) -> bool:
        return tool in self.tools or (
            any(matches(glob, tool) for glob in self.globs) and not any(matches(one, tool) for one in self.excluded)
        )

    def may_have(self, pattern: Pattern) -> bool:
        """Tell whether a tool that a pattern matches is among what it has of unlisted servers."""
        found = (both(pattern, glob) for glob in self.globs)
        return any(one is not None and not any(_covers(e, one) for e in self.excluded) for one in found)


def matches(pattern: Pattern, tool: Pattern) -> bool:
    """Tell whether a tool is one of a pattern's."""
    server, glob = pattern
    fits = tool[1].startswith(glob[:-1]) if glob.endswith("*") else tool[1] == glob
    return server == tool[0] and fits


def both(one: Pattern, other: Pattern) -> Pattern | None:
    """Return what two patterns have in common: the narrower, as one of two prefixes is one of the other, or nothing."""
    for narrow, wide in ((one, other), (other, one)):
        stem = narrow[1].removesuffix("*")
        if (
            narrow[0] == wide[0]
            and (wide[1].endswith("*") or not narrow[1].endswith("*"))
            and matches(wide, (narrow[0], stem))
        ):
            return narrow
    return None


def _covers(wide: Pattern, narrow: Pattern) -> bool:
    return both(wide, narrow) == narrow


def has(facts: Facts, name: str) -> Has:
    """Return what an agent has: what its file would give it, as far as its ceiling goes."""
    agent = facts.agents[name]
    everything = frozenset(tool for tool in facts.tools() if facts.listed(tool[0]))
    whole = frozenset((server, "*") for server in facts.servers if not facts.listed(server))
    given, withheld = _sides(facts, name)

    def of(patterns: Iterable[Pattern]) -> tuple[frozenset[Pattern], frozenset[Pattern]]:
        wanted = tuple(patterns)
        found = frozenset(tool for tool in everything if any(matches(one, tool) for one in wanted))
        return found, frozenset(one for one in wanted if not facts.listed(one[0]))

    brings = {one: of(capability.patterns) for one, capability in facts.capabilities.items()}
    given_tools, given_globs = of(given)
    withheld_tools, withheld_globs = of(withheld)
    withheld_tools -= given_tools
    withheld_globs = frozenset(one for one in withheld_globs if not any(_covers(other, one) for other in given_globs))
    mine = [grant for grant in facts.grants if name in grant.agents]
    if facts.profile == "deny":
        granted = [one for grant in mine for one in grant.tools]
        granted += [one for grant in mine for c in grant.capabilities for one in facts.capabilities[c].patterns]
        granted += [
            one for grant in mine for g in grant.groups if _may_have(facts, name, g) for one in facts.groups[g].tools
        ]
        granted += [
            one for group in facts.groups.values() if group.agent == name and group.enabled for one in group.tools
        ]
        tools, globs = of(granted)
        kept = frozenset(found for g in globs for o in given_globs if (found := both(g, o)) is not None)
        globs = frozenset(g for g in globs if not any(both(g, w) for w in withheld_globs)) | kept
    else:
        tools = everything
        touched = {server for server, _ in withheld_globs}
        globs = frozenset(one for one in whole if one[0] not in touched)
        globs |= frozenset(one for one in given_globs if one[0] in touched)
    left = _below(facts, agent, tools - withheld_tools, globs, brings, whole, everything)
    for who, pattern in facts.deny:
        broken = any(matches(pattern, tool) for tool in left.tools) or left.may_have(pattern)
        if who == name and broken:
            tools = frozenset(tool for tool in tools if not matches(pattern, tool))
            globs = frozenset(g for g in globs if not both(g, pattern))
            left = _below(facts, agent, tools - withheld_tools, globs, brings, whole, everything)
    return left


def _below(
    facts: Facts,
    agent: AgentFacts,
    tools: frozenset[Pattern],
    globs: frozenset[Pattern],
    brings: Mapping[str, tuple[frozenset[Pattern], frozenset[Pattern]]],
    whole: frozenset[Pattern],
    everything: frozenset[Pattern],
) -> Has:
    """Return what an agent's own file would give it, as far as `tools` and `globs` go."""
    granted = [grant for grant in facts.grants if agent.name in grant.agents]
    tools = frozenset(tool for tool in tools if not any(matches(one, tool) for one in agent.disallowed))

    def met(one: Pattern, other: Pattern) -> Pattern | None:
        found = both(one, other)
        return None if found is None or any(_covers(wide, found) for wide in agent.disallowed) else found

    def exists(capability: str) -> bool:
        if facts.profile == "deny" and not any(capability in grant.capabilities for grant in granted):
            return False
        listed, unlisted = brings[capability]
        return bool(listed & tools) or any(met(one, other) for one in unlisted for other in globs)

    def in_domain(domains: tuple[str, ...]) -> bool:
        return not domains or agent.domain is None or agent.domain in domains

    able = agent.kind != "picky"
    boot = frozenset(one for one in agent.boot if exists(one))
    capabilities = frozenset(
        one
        for one, capability in facts.capabilities.items()
        if able and in_domain(capability.domains) and one not in agent.boot and exists(one)
    )
    base: frozenset[Pattern] = frozenset()
    reach: frozenset[Pattern] = frozenset()
    if agent.proxy:
        base, reach = everything, whole
    elif agent.kind == "picky":
        base = frozenset(tool for tool in everything if any(matches(one, tool) for one in agent.tools))
        reach = frozenset(one for one in agent.tools if not facts.listed(one[0]))
    else:
        for one in capabilities | boot:
            base, reach = base | brings[one][0], reach | brings[one][1]
    named = frozenset(agent.skills) if agent.skills or not able else frozenset(facts.skills)
    skills = frozenset(one for one in named if agent.skills or in_domain(facts.skills[one].domains))
    if facts.profile == "deny":
        skills &= frozenset(one for grant in granted for one in grant.skills)
    return Has(
        tools=base & tools,
        globs=frozenset(found for one in reach for other in globs if (found := met(one, other)) is not None),
        excluded=frozenset(agent.disallowed),
        capabilities=capabilities,
        boot=boot,
        skills=skills,
    )


def _may_have(facts: Facts, agent: str, group: str) -> bool:
    found = facts.groups[group]
    if not found.enabled:
        return False
    if found.agent is not None:
        return found.agent == agent
    return found.area is None or found.area in facts.areas_of(agent)


def _sides(facts: Facts, agent: str) -> tuple[list[Pattern], list[Pattern]]:
    """Return what groups give the agent, granted or not, and what those of others withhold from it."""
    given: list[Pattern] = []
    withheld: list[Pattern] = []
    for name, group in facts.groups.items():
        if _may_have(facts, agent, name):
            given += group.tools
        elif group.is_owned:
            withheld += group.tools
    return given, withheld


def search_is_own(facts: Facts, name: str) -> bool:
    """Return whether an agent's searches use all triggers of its capabilities.

    All agents share one index, which uses a capability's triggers only when every finder of its tools has it.
    """
    mine = has(facts, name)
    own = [one for one in facts.capabilities if one in mine.capabilities]
    others = [has(facts, other.name) for other in facts.agents.values() if other.proxy]
    return not any(
        capability not in other.capabilities
        and any(matches(pattern, tool) for pattern in facts.capabilities[capability].patterns)
        for capability in own
        for other in others
        for tool in other.tools & mine.tools
    )


def _by_server(patterns: tuple[Pattern, ...], is_kept: Callable[[Pattern], bool]) -> tuple[Pattern, ...]:
    """Return the patterns that are kept, servers in the order in which all patterns name them: a file lists them so."""
    servers = [server for server, _ in patterns]
    return tuple(sorted(filter(is_kept, patterns), key=lambda pattern: servers.index(pattern[0])))


def reduced(facts: Facts, name: str) -> Facts:
    """Return the fleet with what one agent has, and with nothing else."""
    agent, mine = facts.agents[name], has(facts, name)
    servers = {
        server: attrs.evolve(one, tools=tuple(tool for tool in one.tools if (server, tool) in mine))
        for server, one in facts.servers.items()
        if any((server, tool) in mine for tool in one.tools) or any(server == glob[0] for glob in mine.globs)
    }
    capabilities = {
        capability: attrs.evolve(
            one,
            patterns=_by_server(
                one.patterns,
                lambda pattern: any(matches(pattern, tool) for tool in mine.tools) or mine.may_have(pattern),
            ),
        )
        for capability, one in facts.capabilities.items()
        if capability in mine.capabilities | mine.boot
    }
    there = frozenset(capabilities)
    skills = {
        skill: attrs.evolve(one, capabilities=tuple(c for c in one.capabilities if c in there))
        for skill, one in facts.skills.items()
        if skill in mine.skills
    }
    tools = tuple(
        pattern
        for pattern in agent.tools
        if any(matches(pattern, tool) for tool in mine.tools) or mine.may_have(pattern)
    )
    alone = attrs.evolve(
        agent,
        tools=tools,
        disallowed=(),
        boot=tuple(one for one in agent.boot if one in mine.boot),
        skills=tuple(one for one in agent.skills if one in mine.skills),
    )
    all_tools = tuple(sorted(mine.tools | mine.globs))
    grant = GrantFacts(
        agents=(name,),
        groups=("all",) if all_tools else (),
        capabilities=tuple(capabilities),
        skills=tuple(skills),
    )
    return attrs.evolve(
        facts,
        servers=servers,
        capabilities=capabilities,
        skills=skills,
        agents={name: alone},
        tenants={area: tenant for area, tenant in facts.tenants.items() if area in facts.areas_of(name)},
        groups={"all": GroupFacts(tools=all_tools)} if all_tools else {},
        grants=(grant,),
        deny=(),
    )


def scopes_of(facts: Facts) -> str:
    """Return the fleet's tables of scopes, with those of the keeper."""

    def listed(words: Iterable[Any]) -> str:
        return json.dumps([word if isinstance(word, str) else "/".join(word) for word in words])

    customers = sorted({one for one in facts.tenants.values() if one is not None})
    text = [f"[tenants.{one}]\n" for one in customers]
    for area, tenant in facts.tenants.items():
        homes = [one.name for one in facts.agents.values() if one.area == area]
        guests = [one.name for one in facts.agents.values() if area in one.shared]
        whose = f'tenant = "{tenant}"\n' if tenant else ""
        text.append(f"[areas.{area}]\n{whose}agents = {listed(homes)}\nshared = {listed(guests)}\n")
    for name, group in facts.groups.items():
        whose = f'area = "{group.area}"\n' if group.area else f'agent = "{group.agent}"\n' if group.agent else ""
        off = "" if group.enabled else "enabled = false\n"
        text.append(f"[groups.{name}]\n{whose}{off}tools = {listed(group.tools)}\n")
    text.append(f'[groups.hoard]\nagent = "{KEEPER}"\ntools = {listed(SPARE)}\n')
    for grant in facts.grants:
        lines = [f"agents = {listed(grant.agents)}", f"groups = {listed(grant.groups)}"]
        lines += [f"tools = {listed(grant.tools)}", f"capabilities = {listed(grant.capabilities)}"]
        text.append("\n".join(["[[grants]]", *lines, f"skills = {listed(grant.skills)}\n"]))
    for agent, pattern in facts.deny:
        text.append(f'[[deny]]\nagents = "{agent}"\ntools = {listed([pattern])}\n')
    return "\n".join(text)
