"""For authors of plugins and users' own tests.

A workspace builder, a fake embedder, an in-process MCP server, and the contract suites of embedders and transports.
"""

from octoc.testing.contracts import EmbedderContract, TransportContract

__all__ = [
    "EmbedderContract",
    "TransportContract",
]
