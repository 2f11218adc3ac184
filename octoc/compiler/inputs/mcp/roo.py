"""Roo Code's `.roo/mcp.json`. Time limits are seconds.

Seen in the source of Roo Code 3.52.1 (April 2026): a `url` without `type` is SSE, and one entry that its schema refuses
costs all servers of the file. `mcp_settings.json` is a user's, in a folder of Visual Studio Code, and not in `.roo/`.
"""

from octoc.compiler.inputs.mcp.convert import timeout_in_seconds
from octoc.plugin.file_kinds import Dialect

ROO = Dialect(
    kind="mcp",
    name="roo",
    client="Roo Code",
    patterns=(".roo/mcp.json", ".roo/mcp_settings.json"),
    unread={".roo/mcp_settings.json": ".roo/mcp.json"},
    rank=23,
    infers_transport=True,
    refused_types=dict.fromkeys(("http", "streamableHttp", "streamable_http"), "streamable-http"),
    takes_plain_references=False,
    is_lenient=True,
    passes_few=True,
    renames={"disabledTools": "exclude_tools"},
    unused=frozenset({"alwaysAllow", "watchPaths", "errorHistory"}),
    key_schemas={
        "timeout": {"description": "Time limit of one call in seconds.", "type": "number"},
        "alwaysAllow": {"description": "Tools that run without a question.", "type": "array"},
        "watchPaths": {"description": "Files whose change restarts the server.", "type": "array"},
    },
    shape=timeout_in_seconds,
    variable="${env:NAME}",
    variable_with_default="",
)
