"""Pi's `.pi/mcp.json`, which its extension `pi-mcp-adapter` reads; a user's is `~/.pi/agent/mcp.json`.

Seen in the extension's README (version 2.10, 2026), also its keys. Not verified: comments.
"""

from octoc.plugin.file_kinds import Dialect

PI = Dialect(
    kind="mcp",
    name="pi",
    client="Pi",
    patterns=(".pi/mcp.json", ".pi/agent/mcp.json"),
    rank=41,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"excludeTools": "exclude_tools"},
    unused=frozenset({
        "lifecycle", "idleTimeout", "directTools", "exposeResources", "auth", "bearerToken", "bearerTokenEnv", "debug",
        "description", "oauth",
    }),
)  # fmt: skip
