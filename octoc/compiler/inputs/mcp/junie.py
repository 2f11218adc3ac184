"""Junie's `.junie/mcp/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

JUNIE = Dialect(
    kind="mcp",
    name="junie",
    client="Junie",
    patterns=(".junie/mcp/mcp.json",),
    rank=22,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
)
