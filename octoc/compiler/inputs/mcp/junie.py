"""Junie's `.junie/mcp/mcp.json`.

JetBrains' help names programs (`command`, `args`, `env`) alone; addresses are seen in files, November 2026. Not
verified: comments, references, other keys.
"""

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
    secret_advice="put the server and its value into the user's own file, outside of the repository",
)
