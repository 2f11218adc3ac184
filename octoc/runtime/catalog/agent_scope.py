"""An agent's registry in one bundle, shared by its sessions: its tools, their names, its settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import attrs

from octoc.aliases import ToolNames, sanitize
from octoc.names import ToolId, any_glob_matches, glob_covers, globs_meet
from octoc.runtime.catalog.aliases import AgentAliases

if TYPE_CHECKING:
    from octoc.bundle.model import AgentEntry, CapabilityEntry, Grant, ServerEntry, Settings
    from octoc.formats import ToolFormat
    from octoc.formats.render import RenderedTool
    from octoc.plugin import TokenCounter
    from octoc.runtime.catalog.catalog import Catalog
    from octoc.runtime.catalog.tool_forms import ToolForms
    from octoc.runtime.results.limits import ToolLimits

T = TypeVar("T")
P = ParamSpec("P")


def once_per_generation(method: Callable[Concatenate[AgentScope, P], T]) -> Callable[Concatenate[AgentScope, P], T]:
    """Make a method compute its value once for each set of tools and arguments."""

    @functools.wraps(method)
    def cached(self: AgentScope, /, *args: P.args, **kwargs: P.kwargs) -> T:
        current = self.catalog.generation
        generation, values = self.computed
        if generation != current:
            values = {}
            self.computed = (current, values)  # replaced, as other threads may still use the old ones
        key = (method, *args)
        if key not in values:
            values[key] = method(self, *args, **kwargs)
        value: T = values[key]
        return value

    return cached


class AgentScope:
    """An agent's registry over the tools of one bundle and those that join. Other tools have no number here.

    Args:
        settings: the workspace's settings.
        servers, capabilities: those of the bundle, by name.
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
        forms: Callable[[], ToolForms],
    ) -> None:
        self.registry = agent.registry
        self.catalog = catalog
        self.capabilities = capabilities
        self.settings = settings_of(settings, agent)
        """The workspace's settings, overridden by the agent's own."""
        self.auto = agent.settings.auto is not False
        """Whether a message may activate capabilities without the model."""
        self._servers = servers
        self._forms = forms
        self._naming = AgentAliases(catalog, agent.registry.tools, self.known)
        self.computed: tuple[int, dict[tuple[Any, ...], Any]] = (catalog.generation, {})
        """A generation of the catalog, and values that were computed during it."""

    @cached_property
    def registered(self) -> frozenset[int]:
        """The listed tools of the registry."""
        return frozenset(self.registry.tools)

    @cached_property
    def switchable(self) -> tuple[str, ...]:
        """The capabilities that it can name: those that may be activated and boot capabilities, sorted."""
        names = {*self.registry.capabilities, *self.registry.boot}
        return tuple(sorted(name for name in names if name in self.capabilities))

    @property
    @once_per_generation
    def entries(self) -> Mapping[str, CapabilityEntry]:
        """The capabilities that it can name and that bring it any tool, by name, sorted."""
        return self._narrowed(self.switchable)

    @property
    @once_per_generation
    def reserved(self) -> Mapping[str, CapabilityEntry]:
        """The capabilities that only the host activates and that bring it any tool, by name, sorted."""
        return self._narrowed(name for name in self.registry.reserved if name in self.capabilities)

    def _narrowed(self, names: Iterable[str]) -> Mapping[str, CapabilityEntry]:
        narrowed = ((name, self._narrow(self.capabilities[name])) for name in names)
        return {name: entry for name, entry in narrowed if entry is not None}

    def _narrow(self, entry: CapabilityEntry) -> CapabilityEntry | None:
        """Return a capability with only its grants in scope; None if all tools of its listed servers are withheld."""
        grants = tuple(grant for grant in entry.grants if not self._is_empty(grant))
        if not grants and entry.grants and entry.name not in self.registry.boot:
            return None
        if self.registry.confined:
            grants = tuple(filter(self._brings, grants))
        if len(grants) == len(entry.grants):
            return entry
        from octoc.references import variables_needed  # few agents have a capability in part

        # It neither needs nor names the variables of servers without grants in scope.
        left = (self._servers[grant.server] for grant in grants)
        needed = variables_needed([server.reached for server in left])
        required = tuple(name for name in entry.requires_env if name in needed)
        return attrs.evolve(entry, grants=grants, requires_env=required)

    def _is_empty(self, grant: Grant) -> bool:
        """Return whether a server was listed at run time and exclusions or scopes leave none of its granted tools."""
        server = self._servers[grant.server]
        is_filtered = self.registry.confined or bool(server.exclude)
        return is_filtered and self.catalog.has_joined(grant.server) and not self._brought([grant])

    def _brings(self, grant: Grant) -> bool:
        # A server without tools in scope is neither connected nor named.
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
        """The limits of each tool's results."""
        from octoc.runtime.results.limits import ToolLimits

        return ToolLimits(self.catalog, self._servers, self.settings.results)

    @once_per_generation
    def owned(self, capability: str) -> tuple[int, ...]:
        """Return the tools that a capability brings; none for an unknown capability."""
        entry = self.capabilities.get(capability)
        return () if entry is None else self.granted(entry.grants)

    def granted(self, grants: Sequence[Grant]) -> tuple[int, ...]:
        """Return the tools of the agent that `grants` include."""
        listed = [index for grant in grants for index in grant.tools if index in self.registered]
        return tuple(dict.fromkeys([*listed, *self._brought(grants)]))

    def _brought(self, grants: Iterable[Grant]) -> Sequence[int]:
        """Return the joined tools of unlisted servers that grants of a capability bring."""
        joined = self.joined(grants)
        if not (self.registry.proxy or self.registry.confined):
            return joined
        # The registry limits the tools of unlisted servers.
        within = frozenset(self.joined([*self.registry.unlisted, *self.registry.unlisted_direct]))
        return [index for index in joined if index in within]

    @once_per_generation
    def base(self) -> tuple[int, ...]:
        """Return the tools that are visible from the start, in registry order."""
        boot = [index for name in self.registry.boot for index in self.owned(name)]
        return tuple(sorted({*self.registry.direct, *boot, *self.joined(self.registry.unlisted_direct)}))

    @once_per_generation
    def base_servers(self) -> frozenset[str]:
        """Return the servers of the tools that are visible from the start."""
        return frozenset(self.catalog[index].id.server for index in self.base())

    @once_per_generation
    def deferred(self) -> tuple[int, ...]:
        """Return the tools that the proxy reaches, in the order of registration."""
        return tuple(dict.fromkeys([*self.registry.tools, *self.joined(self.registry.unlisted)]))

    def known(self) -> tuple[int, ...]:
        """Return every tool of the registry, whether or not it can be called now."""
        registry = self.registry
        joined = self.joined([*registry.unlisted, *registry.unlisted_direct])
        # Tools outside of the registry that a capability would bring have no name here.
        brought = [index for name in (*self.switchable, *self.reserved) for index in self.owned(name)]
        return tuple(dict.fromkeys([*registry.tools, *registry.direct, *joined, *brought]))

    def may_have(self, tool: ToolId) -> bool:
        """Return whether a tool is in the registry, or would be if its server, which is not yet listed, has it."""
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
        """Return the model's name of a tool."""
        return self._naming.of(index)

    def shown(self, index: int, form: ToolFormat, wire: Mapping[str, Any] | None = None) -> RenderedTool:
        """Return a tool as it is now, or as in `wire`; shared, so do not change it. Raises: BundleFileError."""
        return self._forms().of(index, self.alias(index), form, wire)

    def tokens(self, index: int, counter: TokenCounter) -> int:
        """Return the tokens of a tool as it is now. Raises: BundleFileError."""
        return self._forms().tokens(index, self.alias(index), counter)

    @once_per_generation
    def names(self) -> ToolNames:
        """Return the names that the registry's tools may be called by."""
        tools = (self.catalog[index] for index in self.known())
        return ToolNames((tool.index, tool.id, self.alias(tool.index)) for tool in tools)

    def joined(self, grants: Iterable[Grant]) -> Sequence[int]:
        """Return the joined tools of unlisted servers that `grants` include."""
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
        # A file may name the tool by its alias, as model APIs spell it.
        return any_glob_matches(globs, tool.tool) or any_glob_matches(globs, sanitize(tool.tool))


def settings_of(settings: Settings, agent: AgentEntry) -> Settings:
    """Return the workspace's settings, overridden by an agent's own."""
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
