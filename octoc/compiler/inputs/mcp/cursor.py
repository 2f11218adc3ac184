"""Cursor's `.cursor/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

CURSOR = Dialect(
    kind="mcp",
    name="cursor",
    client="Cursor",
    patterns=(".cursor/mcp.json",),
    rank=2,
    reads_comments=True,
    infers_transport=True,
    takes_any_name=True,
    takes_numbers=True,
    variable="${env:NAME}",
)
