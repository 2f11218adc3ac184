"""VS Code's `.vscode/mcp.json`: its own key for the servers, and inputs that it asks a person for."""

from octoc.plugin.file_kinds import Dialect

VSCODE = Dialect(
    kind="mcp",
    name="vscode",
    client="VS Code",
    patterns=(".vscode/mcp.json",),
    rank=1,
    server_list="servers",
    reads_comments=True,
    takes_numbers=True,
    declares_inputs=True,
)
