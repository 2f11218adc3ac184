"""Cline's `cline_mcp_settings.json`, which belongs to a user. Time limits are seconds."""

from octoc.compiler.inputs.mcp.convert import timeout_in_seconds
from octoc.plugin.file_kinds import Dialect

CLINE = Dialect(
    kind="mcp",
    name="cline",
    client="Cline",
    patterns=("cline_mcp_settings.json",),
    is_in_project=False,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"transportType": "type"},
    unused=frozenset({"autoApprove", "alwaysAllow", "remoteConfigured"}),
    shape=timeout_in_seconds,
)
