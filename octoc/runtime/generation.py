"""What one bundle gives a runtime's sessions. A reload makes another, and each session stays with its own meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.runtime.catalog import Catalog
from octoc.runtime.connect import BUILTIN, Connector
from octoc.runtime.pool import Pool
from octoc.runtime.route import RoutingParts

if TYPE_CHECKING:
    from octoc.bundle.reader import OpenBundle
    from octoc.plugin import Embedder
    from octoc.plugin.manager import Plugins
    from octoc.runtime.load import Runtime


class Generation:
    """An open bundle with its tools by number, its gate, its plugins and its connections.

    What outlives a bundle is the runtime's: sessions and what they need, the host, the clock, what is bound.
    """

    def __init__(self, runtime: Runtime, opened: OpenBundle, plugins: Plugins, embedder: Embedder | None) -> None:
        self.runtime = runtime
        self.opened = opened
        self.bundle = opened.bundle
        self.plugins = plugins
        self.servers = {server.name: server for server in self.bundle.servers}
        self.capabilities = {capability.name: capability for capability in self.bundle.capabilities}
        self.agents = {agent.name: agent for agent in self.bundle.agents}
        self.catalog = Catalog(opened)
        self.routing = RoutingParts(self, embedder)
        self.connector = Connector(self, runtime.workspace)
        self.pool = Pool(self.connector)

    def can_connect(self, server: str) -> bool:
        """Tell whether there is anything to connect to: a builtin server needs something bound to it."""
        entry = self.servers.get(server)
        return entry is not None and (entry.transport != BUILTIN or self.runtime.bound(server) is not None)
