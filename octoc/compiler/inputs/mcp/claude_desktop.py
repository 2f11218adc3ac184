"""Claude Desktop's file, which belongs to a user and not to a project. It has servers with a `command` alone.

Source: Claude Desktop 0.13 strips a `url` from this file (seen on startdebugging.net, May 2026); remote servers are
connectors of the account. It replaces no references (servers#1039 of Model Context Protocol on GitHub, 2025).
"""

from octoc.plugin.file_kinds import Dialect

_FILE = "claude_desktop_config.json"

CLAUDE_DESKTOP = Dialect(
    kind="mcp",
    name="claude-desktop",
    client="Claude Desktop",
    patterns=(_FILE, f"Claude/{_FILE}"),
    is_settings=True,
    is_in_project=False,
    unread={_FILE: f"~/Library/Application Support/Claude/{_FILE}"},
    takes_any_name=True,
    variable="",
    variable_with_default="",
    secret_advice="start the server with a script that reads it: a shared file needs a placeholder alone",
    url_advice="add it as a connector, or start it with `npx mcp-remote <url>` as a command",
    user_files={
        "darwin": f"~/Library/Application Support/Claude/{_FILE}",
        "win32": f"%APPDATA%/Claude/{_FILE}",
        "": f"~/.config/Claude/{_FILE}",
    },
)
