"""Trae's `.trae/mcp.json`, which a user turns on by the setting for a project's servers.

Seen in Trae's documentation (TRAE CN, "Add an MCP server", January 2026): `command`, `args` and `env` of a program,
`url` and `headers` of an address. Not verified: comments, references, other keys.
"""

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
    secret_advice="put the server and its value into the user's own file, outside of the repository",
)
