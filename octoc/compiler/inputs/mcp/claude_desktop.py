"""Claude Desktop's file, which belongs to a user and not to a project."""

from octoc.plugin.file_kinds import Dialect

CLAUDE_DESKTOP = Dialect(
    kind="mcp",
    name="claude-desktop",
    client="Claude Desktop",
    patterns=("claude_desktop_config.json",),
    is_in_project=False,
)
