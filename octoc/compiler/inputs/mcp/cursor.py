"""Cursor's `.cursor/mcp.json`.

Seen in pages that describe Cursor's documentation, 2026: `${env:NAME}`, `${userHome}` and `${workspaceFolder}` are
replaced, and a remote server may have an `auth` with `CLIENT_ID`. Cursor's source is closed. Not verified: comments,
`${NAME}`.
"""

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
