"""Opening a bundle: one object that holds the pool, the catalog and the plugins, and makes sessions."""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from octoc.caller import Caller
from octoc.names import BUILTIN, SUPERVISOR
from octoc.runtime.activation.active_set import References
from octoc.runtime.activation.dependencies import Dependencies
from octoc.runtime.cancellation import outlast
from octoc.runtime.lazy_plugins import LatePlugins
from octoc.runtime.loaded_bundle import Generation
from octoc.runtime.permissions import DepsLimit, ValidateLimit, checked_limits
from octoc.runtime.results.store import ResultStore
from octoc.runtime.servers.connect import Connector
from octoc.runtime.session import Session
from octoc.runtime.shares import Accounts, account_of
from octoc.runtime.tools.quota import Quotas
from octoc.runtime.values import UnknownNameError
from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    import asyncio

    from octoc.bundle.model import AgentEntry, Bundle, CapabilityEntry, ServerEntry
    from octoc.bundle.reader import OpenBundle
    from octoc.plugin import Embedder, Explainer, Host, PythonTool, TokenCounter
    from octoc.plugin.manager import Plugins
    from octoc.runtime.catalog.registry import Catalog
    from octoc.runtime.servers.builtin import BuiltinConnection
    from octoc.runtime.servers.drift import Drift
    from octoc.runtime.servers.pool import Pool
    from octoc.runtime.tools.server_call import Outcome

logger = logging.getLogger("octoc.runtime")


class Runtime:
    """An open bundle, its connections and its sessions. Nothing is shared between two runtimes of one process.

    Use it in one event loop, as `async with Runtime.open(path) as runtime`, or call `close` at the end.
    """

    def __init__(  # noqa: PLR0913  # as `open`
        self,
        opened: OpenBundle,
        plugins: Plugins | LatePlugins,
        *,
        clock: Callable[[], float] = time.monotonic,
        embedder: Embedder | None = None,
        workspace: Path | None = None,
        token_counter: TokenCounter | None = None,
        host: Host | None = None,
        explain: Explainer | None = None,
        plugins_for: Callable[[Bundle], LatePlugins] | None = None,
        in_memory: bool = False,
        deps: DepsLimit | None = None,
        validate: ValidateLimit | None = None,
    ) -> None:
        self.clock = clock
        self.own_workspace = None if workspace is None else workspace.absolute()
        """What `${workspaceFolder}` is in every bundle, where the host said so."""
        self.host = host
        self.explain = explain
        self.in_memory = in_memory
        self.references = References()
        self.deps = Dependencies(allowed=deps)
        self.validate_limit = validate
        self.accounts = Accounts()
        self.connector = Connector(self)
        self.session_numbers = itertools.count(1)
        self.sessions: dict[int, Generation] = {}
        """Number of a session -> the bundle that it uses."""
        self.embedder = embedder
        self.older: list[Generation] = []
        """What sessions still use that have had no message since the last reload."""
        self.closed = False
        self._process = os.getpid()
        self._plugins_for = plugins_for
        self._ending: dict[asyncio.Task[None], Generation] = {}
        kept = opened.bundle.settings.results
        self.results = ResultStore(
            memory_bytes=kept.store_memory_bytes, disk_bytes=kept.store_disk_bytes, seconds=kept.store_s, clock=clock
        )
        """What was left out of results; as large as the bundle of the last reload says."""
        self._counter = token_counter
        self._counters: dict[str, TokenCounter] = {}
        self._bound: dict[str, BuiltinConnection | None] = {}
        self.quotas = Quotas(opened.bundle, clock)
        """What agents and tenants have used; the limits are those of the last reload."""
        late = plugins if isinstance(plugins, LatePlugins) else LatePlugins(lambda: plugins)
        self.generation = Generation(self, opened, late, embedder)
        """What new sessions use. A session's own is `Session.generation`: another, between a reload and its next
        message."""

    @property
    def opened(self) -> OpenBundle:
        return self.generation.opened

    @property
    def bundle(self) -> Bundle:
        return self.generation.bundle

    @property
    def workspace(self) -> Path:
        """The folder that `${workspaceFolder}` and relative paths mean, absolute."""
        return self.generation.workspace

    @property
    def plugins(self) -> Plugins:
        return self.generation.plugins

    @property
    def servers(self) -> Mapping[str, ServerEntry]:
        return self.generation.servers

    @property
    def capabilities(self) -> Mapping[str, CapabilityEntry]:
        return self.generation.capabilities

    @property
    def agents(self) -> Mapping[str, AgentEntry]:
        return self.generation.agents

    @property
    def catalog(self) -> Catalog:
        return self.generation.catalog

    @property
    def pool(self) -> Pool:
        return self.generation.pool

    @classmethod
    def open(  # noqa: PLR0913  # a parameter for each part that a host may bring
        cls,
        path: str | Path,
        *,
        verify: Literal["lazy", "full"] = "lazy",
        in_memory: bool = False,
        plugins: Plugins | None = None,
        clock: Callable[[], float] = time.monotonic,
        embedder: Embedder | None = None,
        env: Mapping[str, str] | None = None,
        workspace: str | Path | None = None,
        token_counter: TokenCounter | None = None,
        host: Host | None = None,
        explain: Explainer | None = None,
        observers: Iterable[object] = (),
        deps: DepsLimit | None = None,
        validate: ValidateLimit | None = None,
    ) -> Runtime:
        """Verify and map the bundle at `path`; connects nothing and loads no plugin.

        Args:
            verify: `full` checks every member now instead of before its first use.
            in_memory: read bundles instead of mapping them, this one and those of `reload`: a host that lives long
                then does not end with a file that somebody copies another over, in place.
            plugins: instead of those that the bundle names.
            clock: seconds that never go back; orders the use of capabilities.
            embedder: instead of the one that the bundle names.
            env: where references of servers are looked up, instead of the environment.
            workspace: the folder that `${workspaceFolder}` and relative paths mean. By default the one that the bundle
                records relative to its own file, and the working directory when it records none.
            token_counter: instead of the one that the plugins give.
            host: what answers servers that ask for something; without it they are declined.
            explain: says for the model what a failed call means, as a cheap model can; asked before the plugins, and
                None is no answer. Without one the model gets the failure's own words.
            observers: plugin objects besides all others, such as `octoc.plugin.AuditLog`.
            deps: the most that bundles may do about dependencies: `never` leaves them alone, `check` looks for their
                programs, `run` executes their scripts. None sets no limit.
            validate: `never` forbids skills' `validate` scripts, whatever bundles ask for. None sets no limit.

        Raises: BundleRefused when the file is cut, altered, of a newer format or no bundle; ValueError when `deps` or
            `validate` is another word.
        """
        from octoc.bundle.reader import OpenBundle

        checked_limits(deps, validate)
        opened = OpenBundle.open(path, verify, in_memory=in_memory)
        environment = os.environ if env is None else env
        more = tuple(observers)

        def named(bundle: Bundle) -> LatePlugins:
            def load() -> Plugins:
                from octoc.plugin.manager import load_plugins

                loaded = load_plugins(bundle.plugins, environment)
                loaded.join(*more)
                return loaded

            return LatePlugins(load)

        if plugins is not None:
            plugins.join(*more)
        return cls(
            opened,
            plugins or named(opened.bundle),
            clock=clock,
            embedder=embedder,
            workspace=None if workspace is None else Path(workspace),
            token_counter=token_counter,
            host=host,
            explain=explain,
            plugins_for=None if plugins is not None else named,
            in_memory=in_memory,
            deps=deps,
            validate=validate,
        )

    def agents_of(self, tenant: str | None) -> Mapping[str, AgentEntry]:
        """Return the agents that a tenant may use, by name: its own, and those that are everybody's; None is nobody's.

        `agents` has those of all tenants.
        """
        return self.generation.agents_of(tenant)

    def session(
        self,
        agent: str = SUPERVISOR,
        *,
        name: str | None = None,
        workdir: str | Path | None = None,
        tenant: str | None = None,
        user: str | None = None,
        correlation_id: str | None = None,
        account: str | None = None,
    ) -> Session:
        """Begin a conversation of `agent`, for a tenant where it is one of some tenants alone.

        An agent that the tenant may not use is one that does not exist. Raises: UnknownNameError, a LookupError, when
        there is no such agent.

        Args:
            account: whose shares of the runtime's limits it uses if it has no tenant, such as a token's id.
        """
        entry = self.generation.agent_of(agent, tenant)
        if entry is None:
            raise UnknownNameError("agent", agent, self.generation.agents_of(tenant))
        folder = None if workdir is None else str(workdir)
        caller = Caller(
            agent=agent,
            session=name,
            workdir=folder,
            tenant=tenant,
            user=user,
            correlation_id=correlation_id,
            account=account,
        )
        self.accounts.note(account_of(caller))
        return Session(self.generation, entry, caller)

    def owners_session(self, agent: str = SUPERVISOR) -> Session:
        """Begin a conversation as `session` does, of one of the tenants that may use the agent, whichever that is.

        For whoever owns the bundle, as the command line and what evaluates it. Raises: UnknownNameError.
        """
        entry = self.agents.get(agent)
        if entry is None:
            raise UnknownNameError("agent", agent, self.agents)
        return self.session(agent, tenant=next(iter(entry.tenants), None))

    def bind(self, server: str, tools: Iterable[PythonTool]) -> None:
        """Give a builtin server its tools, which join at once, in place of what was bound to it before.

        Raises: UnknownNameError when there is none such.
        """
        entry = self.servers.get(server)
        if entry is None or entry.transport != BUILTIN:
            builtin = [one.name for one in self.bundle.servers if one.transport == BUILTIN]
            raise UnknownNameError("builtin server", server, builtin)
        from octoc.runtime.servers.builtin import BuiltinConnection

        connection = self._bound.get(server)
        if connection is None:
            connection = self._bound[server] = BuiltinConnection(server, ())
        connection.bind(tools)  # the same one, as it may be in use
        for generation in (self.generation, *self.older):
            known = generation.servers.get(server)
            if known is not None and not known.listed:
                generation.catalog.join(known, connection.listing())

    def bound(self, server: str) -> BuiltinConnection | None:
        """Return what is bound to a builtin server, by the host or else by a plugin; None is logged once."""
        if server not in self._bound:
            from octoc.plugin import PluginError
            from octoc.runtime.servers.builtin import BuiltinConnection

            try:
                tools = self.plugins.tools(server)
            except PluginError as error:
                logger.warning("the tools of builtin server `%s` are not there: %s", server, error)
                tools = ()
            self._bound[server] = BuiltinConnection(server, tools) if tools else None
            if not tools:
                logger.info("nothing is bound to builtin server `%s`: it contributes no tools", server)
        return self._bound[server]

    def can_connect(self, server: str) -> bool:
        """Tell whether there is anything to connect to: a builtin server needs something bound to it."""
        return self.generation.can_connect(server)

    async def call_direct(self, server: str, tool: str, arguments: Mapping[str, Any] | None = None) -> Outcome:
        """Call a tool of any server, without an agent, a registry or a limit on the result; for people, not for models.

        Arguments that do not fit the tool's schema are logged, and sent. Raises: UnknownNameError when the bundle has
        no such server, BundleRefused when it was altered.
        """
        if server not in self.servers:
            raise UnknownNameError("server", server, self.servers)
        from octoc.runtime.tools.direct import call_direct

        return await call_direct(self.generation, server, tool, arguments or {})

    def lookup(self, name: str) -> str | None:
        """Return the value of a variable or input, or None. A resolver that fails is logged, and knows nothing."""
        from octoc.plugin import PluginError

        try:
            return self.plugins.resolve_secret(name)
        except PluginError as error:
            logger.warning("`%s` could not be looked up: %s", name, error)
            return None

    def missing_env(self, capability: CapabilityEntry) -> tuple[str, ...]:
        """Return the variables that a capability needs and that are not set, or empty."""
        return tuple(name for name in capability.requires_env if not self.lookup(name))

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens here; its name tells figures apart."""
        return self.counter_for("")

    def counter_for(self, model: str) -> TokenCounter:
        """Return what counts tokens for a model: what the host gave, else what plugins have, else the approximate one.

        A plugin that fails is logged.
        """
        if self._counter is not None:
            return self._counter
        if model not in self._counters:
            from octoc.plugin import PluginError

            try:
                self._counters[model] = self.plugins.token_counter(model)
            except PluginError as error:
                logger.warning("no exact token counter for model `%s`: %s", model, error)
                self._counters[model] = APPROXIMATE
        return self._counters[model]

    def bound_servers(self) -> list[tuple[str, BuiltinConnection]]:
        """Return the builtin servers that something was bound to."""
        return [(server, connection) for server, connection in self._bound.items() if connection is not None]

    def plugins_for(self, bundle: Bundle) -> LatePlugins:
        """Return the plugins that a bundle names: the same ones when the host gave them or the names are the same."""
        if self._plugins_for is None or bundle.plugins.keys() == self.bundle.plugins.keys():
            return self.generation.late_plugins
        return self._plugins_for(bundle)

    def drift(self, server: str) -> Drift:
        """Return how a server with a snapshot differs from the bundle, as far as it has been listed since.

        Raises: UnknownNameError when the bundle has no such server.
        """
        if server not in self.servers:
            raise UnknownNameError("server", server, self.servers)
        return self.generation.drift(server)

    async def reload(self, path: str | Path) -> None:
        """Go over to the bundle at `path`, verified as a whole; connections stay to servers that are as before.

        A session goes on with what it has until its next `on_user_message`; then its active capabilities carry over by
        name where they still exist. One whose agent is not there any more makes no further call.
        The old bundle is let go when the last session has left it.

        Raises: BundleRefused when the new bundle cannot be used, and the old one stays as it is; RuntimeError after
        `close`.
        """
        from octoc.runtime.reload import reload

        await reload(self, path)

    @property
    def forked(self) -> bool:
        """Whether this is a forked child, to which the connections, servers and files do not belong."""
        return self._process != os.getpid()

    def sweep(self) -> None:
        """Let bundles go that no session uses any more; calls under way end on their own."""
        import asyncio

        if self.closed:
            return
        used = set(map(id, self.sessions.values()))
        for generation in [one for one in self.older if id(one) not in used]:
            self.older.remove(generation)
            patience = max((server.timeout_s for server in generation.bundle.servers), default=0.0)
            task = asyncio.create_task(generation.close(patience), name="octoc end of a bundle")
            self._ending[task] = generation
            task.add_done_callback(self._ending.pop)

    async def close(self) -> None:
        """End every connection, calls under way after a short grace, and let the bundle's file go; idempotent.

        All has ended when this returns, even when the task is cancelled meanwhile. In a forked child it ends nothing of
        its parent's.
        """
        import asyncio

        self.closed = True
        if self.forked:
            return
        generations = {id(one): one for one in (self.generation, *self.older, *self._ending.values())}
        closing = {asyncio.create_task(one.close(), name="octoc close") for one in generations.values()}
        closing.add(asyncio.create_task(self.deps.close(), name="octoc end of dependencies"))
        closing.update(self._ending)
        for task in closing:
            task.add_done_callback(closing.discard)
        try:
            await outlast(closing)
        finally:
            for generation in generations.values():
                generation.opened.close()
            self.results.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
