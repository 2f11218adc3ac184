"""Antigravity's `mcp_config.json` in a folder of agents, and those of a user, which dotfiles hold.

Seen in measurements of `agy` 1.1.26 (stbenjam/skillsaw, `antigravity-mcp-valid`, November 2026): no session starts
with a syntax error; a server with a wrong value is left out without a message; `serverUrl` comes before `command`,
unknown keys are allowed. Comments and trailing commas since `agy` 1.1.24 (its changelog, August 2026). The files of a
user: its documentation (MCP, 2026), and `~/.gemini/config/` as its CLI has it (July 2026). Not verified: references.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    if "serverUrl" in entry.left:
        entry.left.pop("url", None)


ANTIGRAVITY = Dialect(
    kind="mcp",
    name="antigravity",
    client="Antigravity",
    patterns=(
        *(".agents/mcp_config.json", ".agent/mcp_config.json", "_agents/mcp_config.json", "_agent/mcp_config.json"),
        *(".gemini/config/mcp_config.json", ".gemini/antigravity/mcp_config.json"),
    ),
    rank=28,
    reads_comments=True,
    infers_transport=True,
    is_lenient=True,
    renames={"serverUrl": "url", "disabledTools": "exclude_tools"},
    unused=frozenset({"authProviderType", "oauth", "clientId", "clientSecret", "$typeName", "description"}),
    shape=_shape,
)
