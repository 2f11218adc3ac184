"""The manifest of a Codex plugin: `mcpServers` is an object of servers, or the path of a file with them."""

from octoc.plugin.file_kinds import Dialect

CODEX_PLUGIN_FILE = ".codex-plugin/plugin.json"

CODEX_PLUGIN = Dialect(
    kind="mcp",
    name="codex-plugin",
    client="Codex",
    patterns=(CODEX_PLUGIN_FILE,),
    rank=39,
    is_in_project=False,
    is_settings=True,
    may_be_path=True,
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
)
