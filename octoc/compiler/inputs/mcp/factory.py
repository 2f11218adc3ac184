"""Factory's `.factory/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

FACTORY = Dialect(
    kind="mcp",
    name="factory",
    client="Factory",
    patterns=(".factory/mcp.json",),
    rank=26,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools", "enabledTools": "include_tools"},
)
