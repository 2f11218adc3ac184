"""The `.mcp.json` of a plugin, which may have its servers at the root."""

from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.plugin.file_kinds import Dialect

CLAUDE_PLUGIN = Dialect(
    kind="mcp",
    name="plugin",
    client="the plugin's client",
    patterns=(MCP_FILE,),
    beside=tuple(f".{client}-plugin/plugin.json" for client in ("claude", "cursor", "codex")),
    rank=3,
    may_be_bare=True,
    takes_any_list=True,
    takes_numbers=True,
    is_lenient=True,
)
