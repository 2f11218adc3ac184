"""For authors of plugins and users' own tests.

A workspace builder, a fake embedder, a scripted explainer, in-process MCP servers, and the contract suites of embedders and transports.
"""

from octoc.testing.contracts import EmbedderContract, TransportContract
from octoc.testing.embedder import FakeEmbedder, fake_embedder
from octoc.testing.explainer import ScriptedExplainer
from octoc.testing.mcp_server import InProcessPlugin, echo_tool, in_process_transport
from octoc.testing.workspace import WorkspaceBuilder

__all__ = [
    "EmbedderContract",
    "FakeEmbedder",
    "InProcessPlugin",
    "ScriptedExplainer",
    "TransportContract",
    "WorkspaceBuilder",
    "echo_tool",
    "fake_embedder",
    "in_process_transport",
]
