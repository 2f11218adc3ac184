"""Crush's `crush.json`: servers in `mcp`, time limits in seconds. Seen in the source of August 2026.

Crush refuses a server without `type`, and takes null as absent, as Go's `encoding/json` does. Its values are expanded
as in a shell.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft, timeout_in_seconds
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    # `disabled` alone switches a server of the user's own file off.
    if entry.left.keys() == {"disabled"}:
        entry.is_elsewhere = True
    timeout_in_seconds(entry)


CRUSH = Dialect(
    kind="mcp",
    name="crush",
    client="Crush",
    patterns=("crush.json", ".crush.json"),
    rank=37,
    is_settings=True,
    server_list="mcp",
    infers_transport=True,
    is_lenient=True,
    takes_null=True,
    fields=frozenset({"type", "command", "args", "env", "url", "headers", "disabled", "timeout"}),
    requires={"": ("type",)},
    renames={"enabled_tools": "include_tools", "disabled_tools": "exclude_tools"},
    unused=frozenset({"oauth", "oauth_client_id", "oauth_client_secret", "oauth_callback_port", "oauth_token"}),
    key_schemas={"timeout": {"description": "Time limit of one call in seconds.", "type": "number"}},
    shape=_shape,
    replacements=((r"\$([A-Za-z_]\w*)", r"${\1}"),),
    own_references=r"\$[({].+",
    refused_types={"streamable-http": "http", "streamableHttp": "http", "streamable_http": "http"},
    hints={"environment": "call it `env`", "enabled": "write `disabled` instead"},
)
