"""Windsurf's `mcp_config.json`: `serverUrl` for a remote server."""

from octoc.plugin.file_kinds import Dialect

WINDSURF = Dialect(
    kind="mcp",
    name="windsurf",
    client="Windsurf",
    patterns=(".windsurf/mcp_config.json", "mcp_config.json"),
    rank=25,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"serverUrl": "url", "disabledTools": "exclude_tools"},
    unused=frozenset({"registry", "alwaysAllow", "autoApprove"}),
    variable="${env:NAME}",
)
