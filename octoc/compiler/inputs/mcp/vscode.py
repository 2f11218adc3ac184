"""VS Code's `.vscode/mcp.json`: its own key for the servers, and inputs that it asks a person for.

Seen in the source of VS Code, November 2026, and in its configuration reference (20 May 2026): a `type` that is missing
or unknown comes from `command` or `url`; its schema, which marks mistakes in the editor, has `stdio`, `http` and `sse`.
"""

from octoc.plugin.file_kinds import Dialect

VSCODE = Dialect(
    kind="mcp",
    name="vscode",
    client="VS Code",
    patterns=(".vscode/mcp.json",),
    rank=1,
    server_list="servers",
    reads_comments=True,
    infers_transport=True,
    takes_any_name=True,
    takes_numbers=True,
    declares_inputs=True,
    marked_types=dict.fromkeys(("streamable-http", "streamableHttp", "streamable_http", "streamableHTTP"), "http"),
    takes_plain_references=False,
    own_references=r"\$\{(?:(?:config|command|workspaceFolder):.+|cwd|execPath|lineNumber|selectedText|\w*[fF]ile\w*)\}",
    variable="${env:NAME}",
    variable_with_default="",
    folder="${workspaceFolder}",
)
