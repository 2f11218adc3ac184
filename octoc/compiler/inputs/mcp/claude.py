"""Claude Code's `.mcp.json`, which Octo reads too."""

import attrs

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
    takes_prefixed_references=False,
)
CLAUDE_MANAGED = attrs.evolve(
    CLAUDE, name="claude-managed", patterns=("managed-mcp.json",), rank=60, is_in_project=False
)
"""The servers that an administrator gives to every user of a machine."""
