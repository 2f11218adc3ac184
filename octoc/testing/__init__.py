"""For authors of plugins and users' own tests.

A workspace builder, a fake embedder, a scripted explainer, in-process MCP servers, the contract suites of embedders and
transports, and `assert_routes` for fixtures.
"""

from octoc.routing.fixtures import RoutingFixture
from octoc.testing.contracts import EmbedderContract, TransportContract
from octoc.testing.embedder import FakeEmbedder, fake_embedder
from octoc.testing.explainer import ScriptedExplainer
from octoc.testing.mcp_server import InProcessPlugin, echo_tool, in_process_transport
from octoc.testing.routes import assert_routes
from octoc.testing.workspace import WorkspaceBuilder

__all__ = [
    "EmbedderContract",
    "FakeEmbedder",
    "InProcessPlugin",
    "RoutingFixture",
    "ScriptedExplainer",
    "TransportContract",
    "WorkspaceBuilder",
    "assert_routes",
    "echo_tool",
    "fake_embedder",
    "in_process_transport",
]
