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

from octoc.bundle.model import AgentEntry, Bundle, CapabilityEntry, ServerEntry
from octoc.bundle.reader import OpenBundle
from octoc.names import SUPERVISOR
from octoc.plugin import Host, PluginError
from octoc.plugin.manager import Plugins, load_plugins
from octoc.results import Caller
from octoc.runtime.active_set import References
from octoc.runtime.builtin import BuiltinConnection
from octoc.runtime.calls import call_server
from octoc.runtime.connect import BUILTIN
from octoc.runtime.generation import Generation
from octoc.runtime.session import Session
from octoc.runtime.values import UnknownNameError

if TYPE_CHECKING:
    from octoc.plugin import Embedder, PythonTool, TokenCounter
    from octoc.runtime.calls import Outcome
    from octoc.runtime.catalog import Catalog
    from octoc.runtime.pool import Pool

logger = logging.getLogger("octoc.runtime")


class Runtime:
    """An open bundle, its connections and its sessions. Nothing is shared between two runtimes of one process.

    Use it in one event loop, as `async with Runtime.open(path) as runtime`, or call `close` at the end.
    """

    def __init__(
        self,
        opened: OpenBundle,
        plugins: Plugins,
        *,
        clock: Callable[[], float] = time.monotonic,
        embedder: Embedder | None = None,
        workspace: Path | None = None,
        token_counter: TokenCounter | None = None,
        host: Host | None = None,
    ) -> None:
        self.clock = clock
        self.workspace = (workspace or Path.cwd()).absolute()
        self.host = host or Host()
        self.references = References()
        self.session_numbers = itertools.count(1)
        self._counter = token_counter
        self._bound: dict[str, BuiltinConnection | None] = {}
        self.generation = Generation(self, opened, plugins, embedder)
        """What new sessions use. A session's own is `Session.generation`: another, between a reload and its next
        message."""

    @property
    def opened(self) -> OpenBundle:
        return self.generation.opened

    @property
    def bundle(self) -> Bundle:
        return self.generation.bundle

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
    def open(
        cls,
        path: str | Path,
        *,
        verify: Literal["lazy", "full"] = "lazy",
        plugins: Plugins | None = None,
        clock: Callable[[], float] = time.monotonic,
        embedder: Embedder | None = None,
        env: Mapping[str, str] | None = None,
        workspace: str | Path | None = None,
        token_counter: TokenCounter | None = None,
        host: Host | None = None,
    ) -> Runtime:
        """Verify and map the bundle at `path`; connects nothing and loads no plugin.

        Args:
            verify: `full` checks every member now instead of before its first use.
            plugins: instead of those that the bundle names.
            clock: seconds that never go back; orders the use of capabilities.
            embedder: instead of the one that the bundle names.
            env: where references of servers are looked up, instead of the environment.
            workspace: the folder that `${workspaceFolder}` and relative paths mean; the working directory by default.
            token_counter: instead of the one that the plugins give.
            host: what answers servers that ask for something; without it they are declined.

        Raises: BundleRefused when the file is cut, altered, of a newer format or no bundle.
        """
        opened = OpenBundle.open(path, verify)
        return cls(
            opened,
            plugins or load_plugins(opened.bundle.plugins, os.environ if env is None else env),
            clock=clock,
            embedder=embedder,
            workspace=None if workspace is None else Path(workspace),
            token_counter=token_counter,
            host=host,
        )

    def session(
        self,
        agent: str = SUPERVISOR,
        *,
        name: str | None = None,
        workdir: str | Path | None = None,
        tenant: str | None = None,
        user: str | None = None,
        correlation_id: str | None = None,
    ) -> Session:
        """Begin a conversation of `agent`. Raises: UnknownNameError, a LookupError, when there is no such agent."""
        entry = self.agents.get(agent)
        if entry is None:
            raise UnknownNameError("agent", agent, self.agents)
        folder = None if workdir is None else str(workdir)
        caller = Caller(
            agent=agent, session=name, workdir=folder, tenant=tenant, user=user, correlation_id=correlation_id
        )
        return Session(self.generation, entry, caller)

    def bind(self, server: str, tools: Iterable[PythonTool]) -> None:
        """Give a builtin server its tools, which join at once. Raises: UnknownNameError when there is none such."""
        entry = self.servers.get(server)
        if entry is None or entry.transport != BUILTIN:
            builtin = [one.name for one in self.bundle.servers if one.transport == BUILTIN]
            raise UnknownNameError("builtin server", server, builtin)
        connection = self._bound[server] = BuiltinConnection(server, tools)
        if not entry.listed:
            self.catalog.join(entry, connection.listing())

    def bound(self, server: str) -> BuiltinConnection | None:
        """Return what is bound to a builtin server, by the host or else by a plugin; None is logged once."""
        if server not in self._bound:
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

        Raises: UnknownNameError when the bundle has no such server.
        """
        if server not in self.servers:
            raise UnknownNameError("server", server, self.servers)
        return await call_server(self.generation, server, tool, arguments or {})

    def lookup(self, name: str) -> str | None:
        """Return the value of a variable or input, or None. A resolver that fails is logged, and knows nothing."""
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
        if self._counter is None:
            self._counter = self.plugins.token_counter()
        return self._counter

    async def close(self) -> None:
        """End every connection and let the bundle's file go; idempotent."""
        await self.pool.close_all()
        self.opened.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
