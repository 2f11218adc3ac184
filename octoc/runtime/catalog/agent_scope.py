"""What one bundle gives every session of one agent, worked out once: its tools, their names, its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from octoc.aliases import ToolNames, sanitize
from octoc.names import any_glob_matches, glob_covers, globs_meet
from octoc.runtime.catalog.aliases import AgentAliases

if TYPE_CHECKING:
    from octoc.bundle.model import AgentEntry, CapabilityEntry, Grant, ServerEntry, Settings
    from octoc.formats import ToolFormat
    from octoc.formats.render import Shown
    from octoc.names import ToolId
    from octoc.plugin import TokenCounter
    from octoc.runtime.activation.active_set import Use
    from octoc.runtime.catalog.registry import Catalog
    from octoc.runtime.catalog.token_costs import ToolCosts
    from octoc.runtime.catalog.tool_forms import ToolForms
    from octoc.runtime.results.limits import ToolLimits

T = TypeVar("T")


class AgentScope:
    """An agent's registry over the tools of one bundle, and those that join. Nothing outside it has a number here.

    Args:
        settings: the workspace's settings.
        servers, capabilities: all of the bundle, by name.
        forms: returns the bundle's tools as model APIs take them; called when the first is needed.
    """

    def __init__(
        self,
        agent: AgentEntry,
        *,
        settings: Settings,
        servers: Mapping[str, ServerEntry],
        capabilities: Mapping[str, CapabilityEntry],
        catalog: Catalog,
        costs: ToolCosts,
        forms: Callable[[], ToolForms],
    ) -> None:
        self.registry = agent.registry
        self.catalog = catalog
        self.capabilities = capabilities
        self.settings = settings_of(settings, agent)
        """The workspace's settings with the agent's own in their place."""
        self.auto = agent.settings.auto is not False
        """Whether a message activates anything without the model."""
        self._servers = servers
        self._costs = costs
        self._forms = forms
        self._naming = AgentAliases(catalog, agent.registry.tools, self.known)
        self._seen: _Computed | None = None

    @cached_property
    def registered(self) -> frozenset[int]:
        """The listed tools of the registry."""
        return frozenset(self.registry.tools)

    @cached_property
    def switchable(self) -> tuple[str, ...]:
        """The capabilities that it can name: those that may be activated and those it booted with, sorted."""
        names = {*self.registry.capabilities, *self.registry.boot}
        return tuple(sorted(name for name in names if name in self.capabilities))

    @property
    def entries(self) -> Mapping[str, CapabilityEntry]:
        """The capabilities that it can name, as far as they bring it anything, by name, sorted."""
        seen = self._now()
        if seen.entries is None:
            seen.entries = self._narrowed(self.switchable)
        return seen.entries

    @property
    def reserved(self) -> Mapping[str, CapabilityEntry]:
        """The capabilities that only the host activates, as far as they bring it anything, by name, sorted."""
        seen = self._now()
        if seen.reserved is None:
            seen.reserved = self._narrowed(name for name in self.registry.reserved if name in self.capabilities)
        return seen.reserved

    def _narrowed(self, names: Iterable[str]) -> Mapping[str, CapabilityEntry]:
        narrowed = ((name, self._narrow(self.capabilities[name])) for name in names)
        return {name: entry for name, entry in narrowed if entry is not None}

    def _narrow(self, entry: CapabilityEntry) -> CapabilityEntry | None:
        """Return what a capability brings; None when its servers are listed and all that they have is withheld."""
        grants = tuple(grant for grant in entry.grants if not self._is_empty(grant))
        if not grants and entry.grants and entry.name not in self.registry.boot:
            return None
        if self.registry.confined:
            grants = tuple(filter(self._brings, grants))
        if len(grants) == len(entry.grants):
            return entry
        from octoc.references import variables_needed  # here, as few agents have a capability in part

        # Nor does it need, or name, the variables of servers of which nothing is left.
        left = (self._servers[grant.server] for grant in grants)
        needed = variables_needed(
            [
                (one.command, one.args, one.env, one.cwd, one.env_file, one.url, one.headers, one.auth, one.settings)
                for one in left
            ]
        )
        required = tuple(name for name in entry.requires_env if name in needed)
        return attrs.evolve(entry, grants=grants, requires_env=required)

    def _is_empty(self, grant: Grant) -> bool:
        """Return whether the grant's server was listed at run time and exclusions or scopes leave none of its tools."""
        server = self._servers[grant.server]
        is_filtered = self.registry.confined or bool(server.exclude)
        return is_filtered and self.catalog.has_joined(grant.server) and not self._brought([grant])

    def _brings(self, grant: Grant) -> bool:
        # A server of which nothing is left is not connected, and not named.
        if grant.tools:
            return any(index in self.registered for index in grant.tools)
        excluded = self._excluded.get(grant.server, ())
        return any(
            one.server == grant.server
            and globs_meet(own, other)
            and not any(glob_covers(glob, own if glob_covers(other, own) else other) for glob in excluded)
            for one in (*self.registry.unlisted, *self.registry.unlisted_direct)
            for own in one.globs
            for other in grant.globs
        )

    @cached_property
    def limits(self) -> ToolLimits:
        """How much of each tool's results its model sees."""
        from octoc.runtime.results.limits import ToolLimits

        return ToolLimits(self.catalog, self._servers, self.settings.results)

    def owned(self, capability: str) -> tuple[int, ...]:
        """Return the tools that a capability brings."""
        entry = self.capabilities.get(capability)
        if entry is None:
            return ()
        known = self._now().owned
        if capability not in known:
            listed = [index for grant in entry.grants for index in grant.tools if index in self.registered]
            known[capability] = tuple(dict.fromkeys([*listed, *self._brought(entry.grants)]))
        return known[capability]

    def _brought(self, grants: Iterable[Grant]) -> Sequence[int]:
        """Return the tools of unlisted servers that have joined and that grants of a capability bring."""
        joined = self.joined(grants)
        if not (self.registry.proxy or self.registry.confined):
            return joined
        # Then the registry says what of an unlisted server is there at all.
        within = frozenset(self.joined([*self.registry.unlisted, *self.registry.unlisted_direct]))
        return [index for index in joined if index in within]

    def base(self) -> tuple[int, ...]:
        """Return the tools that are visible from the start, in registry order."""
        seen = self._now()
        if seen.base is None:
            boot = [index for name in self.registry.boot for index in self.owned(name)]
            seen.base = tuple(sorted({*self.registry.direct, *boot, *self.joined(self.registry.unlisted_direct)}))
        return seen.base

    def base_uses(self) -> frozenset[Use]:
        """Return what every session needs of servers for its base."""
        seen = self._now()
        if seen.base_uses is None:
            tools = (self.catalog[index].id for index in self.base())
            seen.base_uses = frozenset((tool.server, tool.tool) for tool in tools)
        return seen.base_uses

    def deferred(self) -> tuple[int, ...]:
        """Return what the proxy reaches, in the order in which it is registered."""
        seen = self._now()
        if seen.deferred is None:
            seen.deferred = tuple(dict.fromkeys([*self.registry.tools, *self.joined(self.registry.unlisted)]))
        return seen.deferred

    def known(self) -> tuple[int, ...]:
        """Return every tool of the registry, whether or not it can be called now."""
        registry = self.registry
        joined = self.joined([*registry.unlisted, *registry.unlisted_direct])
        # What a capability would bring from beyond the registry is not known here, not even as a name.
        brought = [index for name in (*self.switchable, *self.reserved) for index in self.owned(name)]
        return tuple(dict.fromkeys([*registry.tools, *registry.direct, *joined, *brought]))

    def may_have(self, tool: ToolId) -> bool:
        """Return whether a tool is in the registry, or would be if its server, which is not listed yet, has it."""
        index = self.catalog.find(tool)
        if index is not None:
            return index in self.known()
        entry = self._servers.get(tool.server)
        if entry is None or entry.listed or self.catalog.has_joined(tool.server):
            return False
        brought = (grant for one in self.entries.values() for grant in one.grants)
        grants = (*self.registry.unlisted, *self.registry.unlisted_direct, *brought)
        return any(one.server == tool.server and any_glob_matches(one.globs, tool.tool) for one in grants)

    def alias(self, index: int) -> str:
        """Return what its model calls one of its tools."""
        return self._naming.of(index)

    def shown(self, index: int, form: ToolFormat, wire: Mapping[str, Any] | None = None) -> Shown:
        """Return a tool as it is now, or as `wire` has it; shared, so do not change it. Raises: BundleRefused."""
        return self._forms().of(index, self.alias(index), form, wire)

    def tokens(self, index: int, counter: TokenCounter) -> int:
        """Return how many tokens a tool has as it is now. Raises: BundleRefused."""
        return self._costs.tokens(index, self.alias(index), counter)

    def names(self) -> ToolNames:
        """Return the names that the registry's tools may be called by."""
        seen = self._now()
        if seen.names is None:
            tools = (self.catalog[index] for index in self.known())
            seen.names = ToolNames((tool.index, tool.id, self.alias(tool.index)) for tool in tools)
        return seen.names

    def joined(self, grants: Iterable[Grant]) -> Sequence[int]:
        """Return the tools of unlisted servers that have joined and are granted."""
        return [
            index
            for grant in grants
            for index in self.catalog.joined(grant.server)
            if any_glob_matches(grant.globs, self.catalog[index].id.tool) and not self._is_excluded(index)
        ]

    @cached_property
    def _excluded(self) -> Mapping[str, tuple[str, ...]]:
        return {grant.server: grant.globs for grant in self.registry.excluded}

    def _is_excluded(self, index: int) -> bool:
        tool = self.catalog[index].id
        globs = self._excluded.get(tool.server, ())
        # Also as a model API spells it: a file may name the tool by what a model calls it.
        return any_glob_matches(globs, tool.tool) or any_glob_matches(globs, sanitize(tool.tool))

    def _now(self) -> _Computed:
        """Return what was worked out while the set of tools is what it is."""
        tools = self.catalog.generation
        if self._seen is None or self._seen.tools != tools:
            self._seen = _Computed(tools=tools)
        return self._seen


@attrs.define(kw_only=True, eq=False)
class _Computed:
    """What was worked out of an agent's tools, while `Catalog.generation` was `tools`."""

    tools: int
    base: tuple[int, ...] | None = None
    base_uses: frozenset[Use] | None = None
    deferred: tuple[int, ...] | None = None
    names: ToolNames | None = None
    entries: Mapping[str, CapabilityEntry] | None = None
    reserved: Mapping[str, CapabilityEntry] | None = None
    owned: dict[str, tuple[int, ...]] = attrs.field(factory=dict)


def settings_of(settings: Settings, agent: AgentEntry) -> Settings:
    """Return the workspace's settings with those of an agent in their place."""
    own, results = agent.settings, settings.results
    return attrs.evolve(
        settings,
        results=attrs.evolve(
            results,
            profile=_or_default(own.results_profile, results.profile),
            max_chars=_or_default(own.max_chars, results.max_chars),
            max_tokens=_or_default(own.max_tokens, results.max_tokens),
            keep=_or_default(own.keep, results.keep),
        ),
        max_active=_or_default(own.max_active, settings.max_active),
        max_active_tokens=_or_default(own.max_active_tokens, settings.max_active_tokens),
        quota=_or_default(own.quota, settings.quota),
    )


def _or_default(own: T | None, otherwise: T) -> T:
    return otherwise if own is None else own
