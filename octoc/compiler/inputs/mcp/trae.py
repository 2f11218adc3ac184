"""Trae's `.trae/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

TRAE = Dialect(
    kind="mcp",
    name="trae",
    client="Trae",
    patterns=(".trae/mcp.json",),
    rank=24,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    unused=frozenset({"fromGalleryId", "autoApprove"}),
)
