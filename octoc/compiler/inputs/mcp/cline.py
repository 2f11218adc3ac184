"""Cline's `cline_mcp_settings.json`, which belongs to a user. Time limits are seconds.

Seen in the source of Cline 4.1.13 (August 2026). Its command line writes an object `transport`. Repositories also keep
the file in `.cline/`: not verified.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft, seconds
from octoc.plugin.file_kinds import Dialect

_FILE = "cline_mcp_settings.json"


def _shape(entry: ServerDraft) -> None:
    seconds(entry, "timeout")
    transport = entry.left.get("transport")
    if isinstance(transport, dict):
        del entry.left["transport"]
        for key, value in transport.items():
            entry.put(key, value, "transport", key)


CLINE = Dialect(
    kind="mcp",
    name="cline",
    client="Cline",
    patterns=(_FILE, f"settings/{_FILE}", f".cline/{_FILE}", ".cline/mcp_settings.json", ".cline/mcp.json"),
    is_in_project=False,
    unread={_FILE: f"~/.cline/data/settings/{_FILE}"},
    infers_transport=True,
    refused_types={"http": "streamableHttp", "streamable-http": "streamableHttp"},
    takes_plain_references=False,
    is_lenient=True,
    renames={"transportType": "type"},
    unused=frozenset({"autoApprove", "alwaysAllow", "remoteConfigured", "metadata", "oauthClient", "oauth"}),
    key_schemas={
        "timeout": {"description": "Time limit of one call in seconds.", "type": "number"},
        "autoApprove": {"description": "Tools that run without a question.", "type": "array"},
    },
    shape=_shape,
    variable="${env:NAME}",
    variable_with_default="",
)
