"""Windsurf's `mcp_config.json`: `serverUrl` or `url` for a remote server.

Seen in Windsurf's documentation (Cascade, MCP; 2026): it replaces `${env:NAME}` and `${file:PATH}` in `command`,
`args`, `env`, `serverUrl`, `url` and `headers` of the user's file. It does not read a project's file, which
repositories have all the same. Devin Desktop, its successor, reads `.devin/mcp_config.json` (Devin's documentation, MCP
configuration, 2026). Not verified: comments, `${NAME}`.
"""

from octoc.plugin.file_kinds import Dialect

_UNREAD = (".windsurf/mcp_config.json", ".windsurf/mcp.json")

WINDSURF = Dialect(
    kind="mcp",
    name="windsurf",
    client="Windsurf",
    patterns=(*_UNREAD, ".codeium/windsurf/mcp_config.json", ".codeium/mcp_config.json"),
    rank=25,
    is_in_project=False,
    unread=dict.fromkeys(_UNREAD, "~/.codeium/windsurf/mcp_config.json"),
    unread_advice="Devin Desktop, as Windsurf is called since June 2026, reads `.devin/mcp_config.json` of a project",
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"serverUrl": "url", "disabledTools": "exclude_tools"},
    unused=frozenset({"registry", "alwaysAllow", "autoApprove"}),
    variable="${env:NAME}",
)
