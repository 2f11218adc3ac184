"""Files about one server or one skill that a workspace does not start: octoc validates them by their readers' rules."""

from octoc.plugin.file_kinds import ANY, FileKind

FASTMCP = FileKind(
    name="fastmcp",
    syntax="json",
    patterns=("fastmcp.json", "*.fastmcp.json"),
    exclude="octoc.compiler.check.published:is_proxy",
    check="octoc.compiler.check.published:check_fastmcp",
    scan="everywhere",
    is_complete=True,
)
"""FastMCP's `fastmcp.json`. Seen in the source of version 3.0: keys that it does not know are ignored."""

REGISTRY_SERVER = FileKind(
    name="registry-server",
    syntax="json",
    content_patterns=("server.json",),
    recognize=lambda values: (
        "modelcontextprotocol" in str(values.get("$schema"))
        or ("/" in str(values.get("name")) and "version" in values and not {"packages", "remotes"}.isdisjoint(values))
    ),
    marks=("modelcontextprotocol.io/schemas/",),
    exclude="octoc.compiler.check.published:is_older_entry",
    check="octoc.compiler.check.published:check_registry_server",
    scan="everywhere",
    is_complete=True,
)
"""The MCP registry's `server.json`. Seen in its schema of 2025-12-11 and in the source of its validators."""

SKILLS_LOCK = FileKind(
    name="skills-lock",
    syntax="json",
    units=(("skills", ANY),),
    patterns=("skills-lock.json",),
    exclude="octoc.compiler.check.published:is_own_lock",
    check="octoc.compiler.check.published:check_skills_lock",
    scan="everywhere",
    is_complete=True,
)
"""The `skills` program's `skills-lock.json`. Seen in its source of February 2026. octoc does not verify the digests."""
