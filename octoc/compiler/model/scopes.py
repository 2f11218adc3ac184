"""What tables of scopes say, and what they mean once names are looked up. See docs/scopes.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import attrs

from octoc.bundle.model import AgentSettings
from octoc.choices import ScopeProfile
from octoc.compiler.model.located import KEY, OWN_NAME, Located, Stripped
from octoc.diagnostics.model import Place
from octoc.names import ToolId

Number = int | float


@attrs.frozen(order=True)
class OfferId(ToolId):
    """The identity of a resource, template or prompt; `whole` stands for all that its server may offer."""

    kind: Literal["resource", "template", "prompt", "whole"]


@attrs.frozen(kw_only=True)
class Tuning:
    """What is otherwise for some agents: keys of `results`, `routing` and `quota` as written; absent is as before."""

    results: Mapping[str, str | int] = attrs.field(factory=dict)
    routing: Mapping[str, int] = attrs.field(factory=dict)
    quota: Mapping[str, Number] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class TenantSource:
    """`[tenants.NAME]`."""

    name: str = attrs.field(metadata={KEY: OWN_NAME})
    place: Place
    description: Stripped = ""
    enabled: bool = True
    quota: Mapping[str, Number] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class AreaSource:
    """`[areas.NAME]`. `agents` live in it, `shared` ones live in another: names or globs."""

    name: str = attrs.field(metadata={KEY: OWN_NAME})
    place: Place
    tenant: Located[str] | None = None
    description: Stripped = ""
    enabled: bool = True
    agents: tuple[Located[str], ...] = ()
    shared: tuple[Located[str], ...] = ()
    default_agent: Located[str] | None = None
    defaults: Tuning = attrs.field(factory=Tuning)


@attrs.frozen(kw_only=True)
class GroupSource:
    """`[groups.NAME]`: a group belongs to one area or one agent, else it is global."""

    name: str = attrs.field(metadata={KEY: OWN_NAME})
    place: Place
    area: Located[str] | None = None
    agent: Located[str] | None = None
    description: Stripped = ""
    tools: tuple[Located[str], ...] = ()
    resources: tuple[Located[str], ...] = ()
    prompts: tuple[Located[str], ...] = ()
    enabled: bool = True

    @property
    def is_global(self) -> bool:
        return self.area is None and self.agent is None


@attrs.frozen(kw_only=True)
class GrantSource:
    """One `[[grants]]`."""

    place: Place
    agents: tuple[Located[str], ...] = ()
    groups: tuple[Located[str], ...] = ()
    tools: tuple[Located[str], ...] = ()
    resources: tuple[Located[str], ...] = ()
    prompts: tuple[Located[str], ...] = ()
    capabilities: tuple[Located[str], ...] = ()
    skills: tuple[Located[str], ...] = ()
    enabled: bool = True


@attrs.frozen(kw_only=True)
class OverrideSource:
    """`[overrides."GLOB"]`; `enabled` None is not said."""

    glob: Stripped = attrs.field(metadata={KEY: OWN_NAME})
    place: Place
    enabled: bool | None = None
    tuning: Tuning = attrs.field(factory=Tuning, metadata={KEY: ()})


@attrs.frozen(kw_only=True)
class DenySource:
    """One `[[deny]]`."""

    place: Place
    agents: tuple[Located[str], ...] = ()
    tools: tuple[Located[str], ...] = ()
    resources: tuple[Located[str], ...] = ()
    prompts: tuple[Located[str], ...] = ()
    reason: Stripped = ""


@attrs.frozen(kw_only=True)
class ScopeTables:
    """The tables of one file, or of several: in the order of files, octoc.toml first."""

    tenants: tuple[TenantSource, ...] = ()
    areas: tuple[AreaSource, ...] = ()
    groups: tuple[GroupSource, ...] = ()
    grants: tuple[GrantSource, ...] = ()
    overrides: tuple[OverrideSource, ...] = ()
    deny: tuple[DenySource, ...] = ()

    def __add__(self, other: ScopeTables) -> ScopeTables:
        names = [field.name for field in attrs.fields(ScopeTables)]
        return ScopeTables(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in attrs.fields(ScopeTables))


@attrs.frozen(kw_only=True)
class Reach:
    """Tools that a pattern or a table means: those that are recorded, and (server, glob) of unlisted servers.

    A server's offers are among the tools, by their `OfferId`.
    """

    tools: frozenset[ToolId] = frozenset()
    globs: frozenset[tuple[str, str]] = frozenset()

    def __or__(self, other: Reach) -> Reach:
        return Reach(tools=self.tools | other.tools, globs=self.globs | other.globs)

    def __bool__(self) -> bool:
        return bool(self.tools or self.globs)


@attrs.frozen(kw_only=True)
class ToolGroup:
    """A group with its tools looked up.

    `broken`: its area or agent does not exist, so no agent has the group; what it names stays withheld from all agents.
    `doubtful` is withheld with it: the servers of entries that match none of their tools. `unread`: an entry names a
    server that does not exist, so what it withholds is unknown.
    """

    source: GroupSource
    tools: Mapping[Located[str], Reach] = attrs.field(factory=dict)
    broken: bool = False
    doubtful: Reach = attrs.field(factory=Reach)
    unread: bool = False

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def reach(self) -> Reach:
        """All of its tools."""
        return joined(self.tools.values())


@attrs.frozen(kw_only=True)
class ScopeGrant:
    """A grant with its names looked up: each entry as written, with what it means."""

    source: GrantSource
    agents: frozenset[str] = frozenset()
    groups: Mapping[Located[str], ToolGroup] = attrs.field(factory=dict)
    tools: Mapping[Located[str], Reach] = attrs.field(factory=dict)
    capabilities: Mapping[Located[str], tuple[str, ...]] = attrs.field(factory=dict)
    skills: Mapping[Located[str], tuple[str, ...]] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Deny:
    """A `[[deny]]` with its names looked up."""

    source: DenySource
    agents: frozenset[str]
    reach: Reach


@attrs.frozen(kw_only=True)
class AgentPlacement:
    """Where an agent is: its areas, its home first, and the tenants whose sessions may use it (empty: all tenants')."""

    areas: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    settings: AgentSettings = attrs.field(factory=AgentSettings)


@attrs.frozen(kw_only=True)
class Scopes:
    """Who may use what, by name. Product of resolve.

    Args:
        profile: `allow` or `deny`; `at` is where it is written, or the file that does not write it.
        tenants, areas: those that are in effect.
        groups, grants, deny: those that are sound; also groups that are switched off, since they withhold.
        members: by agent; one that is in no area is not among them, unless it has settings of its own.
        left_out: agents that the bundle does not have.
        closed: some table could not be read, so what it withholds is unknown, and no agent has anything.
    """

    at: Place
    profile: ScopeProfile = "allow"
    tenants: Mapping[str, TenantSource] = attrs.field(factory=dict)
    areas: Mapping[str, AreaSource] = attrs.field(factory=dict)
    groups: tuple[ToolGroup, ...] = ()
    grants: tuple[ScopeGrant, ...] = ()
    deny: tuple[Deny, ...] = ()
    members: Mapping[str, AgentPlacement] = attrs.field(factory=dict)
    left_out: frozenset[str] = frozenset()
    closed: bool = False

    @property
    def is_unlimited(self) -> bool:
        """Whether there are no tables of scopes, and the profile needs none."""
        named = (self.tenants, self.areas, self.grants, self.deny, self.members, self.left_out)
        return self.limits_nothing and not any(named)

    @property
    def limits_nothing(self) -> bool:
        """Whether every agent has what it has without any scope."""
        return self.profile == "allow" and not self.groups and not self.closed


@attrs.frozen
class ReachStep:
    """A step on the way from an agent to a tool; `via` is the next one, as the group that a grant names."""

    kind: Literal["profile", "area", "group", "grant", "capability", "agent-file"]
    name: str
    place: Place
    via: ReachStep | None = None


def joined(reaches: Iterable[Reach]) -> Reach:
    """Return all tools of several `Reach`."""
    tools: set[ToolId] = set()
    globs: set[tuple[str, str]] = set()
    for reach in reaches:
        tools |= reach.tools
        globs |= reach.globs
    return Reach(tools=frozenset(tools), globs=frozenset(globs))
