"""Claude Code's `.mcp.json`, which Octo reads too."""

from octoc.plugin.file_kinds import Dialect

MCP_FILE = ".mcp.json"
# Source: Claude Code, MCP configuration.
_RESERVED = frozenset({"workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"})

CLAUDE = Dialect(
    kind="mcp",
    name="claude",
    client="Claude Code",
    patterns=(f".octo/{MCP_FILE}", MCP_FILE),
    rank=0,
    reserved_names=_RESERVED,
)
