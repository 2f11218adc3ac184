"""Files with servers whose name no client has for itself: examples, and the settings of clients without a folder."""

from collections.abc import Mapping

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect

_OWN_OBJECTS = ("auth", "oauth")
"""Keys that are objects where octoc reads them; another client may have a word or a switch there."""


def _shape(entry: ServerDraft) -> None:
    for key in _OWN_OBJECTS:
        if not isinstance(entry.left.get(key, {}), Mapping):
            del entry.left[key]


UNNAMED = Dialect(
    kind="mcp",
    name="any",
    client="this client",
    patterns=(
        *("mcp.json", "*.mcp.json", "mcp.*.json", ".mcp.*.json", "mcp_settings.json", "mcp-config.json"),
        *("mcp_config.json", "mcp-servers.json", "mcp_servers.json", "mcpServers.json"),
    ),
    rank=90,
    needs_content=True,
    reads_comments=True,
    infers_transport=True,
    takes_any_list=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"serverUrl": "url", "httpUrl": "url", "disabledTools": "exclude_tools"},
    unused=frozenset({"autoApprove", "alwaysAllow", "trust", "description", "tools"}),
    shape=_shape,
)
