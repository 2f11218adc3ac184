"""Visual Studio's `.mcp.json` beside a solution, in the form of `.vscode/mcp.json`.

Seen in its documentation (Visual Studio 17.14, 29 August 2025), whose example has a `url` without `type`, and in files
that Visual Studio 2022 and 2026 wrote, November 2026. It also reads `.vs/mcp.json`, which is one user's. Not verified:
comments, references other than `${input:ID}`.
"""

from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.plugin.file_kinds import Dialect

VISUAL_STUDIO = Dialect(
    kind="mcp",
    name="visual-studio",
    client="Visual Studio",
    patterns=(MCP_FILE,),
    rank=0,
    beside=("*.sln", "*.slnx", "*.slnf", "*.csproj", "*.vcxproj"),
    marks={"inputs": frozenset()},
    server_list="servers",
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    declares_inputs=True,
    variable="${env:NAME}",
    variable_with_default="",
)
