"""Factory's `.factory/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

FACTORY = Dialect(
    kind="mcp",
    name="factory",
    client="Factory",
    patterns=(".factory/mcp.json",),
    rank=26,
    infers_transport=True,
    takes_numbers=True,
    renames={"disabledTools": "exclude_tools", "enabledTools": "include_tools"},
)
