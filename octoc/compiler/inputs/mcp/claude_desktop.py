"""Claude Desktop's file, which belongs to a user and not to a project."""

from octoc.plugin.file_kinds import Dialect

_FILE = "claude_desktop_config.json"

CLAUDE_DESKTOP = Dialect(
    kind="mcp",
    name="claude-desktop",
    client="Claude Desktop",
    patterns=(_FILE,),
    is_in_project=False,
    user_files={
        "darwin": f"~/Library/Application Support/Claude/{_FILE}",
        "win32": f"%APPDATA%/Claude/{_FILE}",
        "": f"~/.config/Claude/{_FILE}",
    },
)
