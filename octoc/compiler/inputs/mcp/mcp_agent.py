"""mcp-agent's `mcp_agent.config.yaml`: servers in `mcp.servers`. Seen in the source of version 0.2.6.

A `transport` that is left out is `stdio`; most keys may be null. The file has no references: `mcp_agent.secrets.yaml`
is merged over it.
"""

import attrs

from octoc.compiler.inputs.mcp.convert import ServerDraft, seconds
from octoc.plugin.file_kinds import Dialect

_TYPES = {"streamable_http": "http", "websocket": "ws"}

_OF_SECRETS = frozenset({"transport", "env", "headers", "read_timeout_seconds", "allowed_tools", "cwd"})
"""Keys that an entry may have whose program or address is in the file of secrets."""


def _shape(entry: ServerDraft) -> None:
    if entry.left.keys() <= _OF_SECRETS:
        entry.is_elsewhere = True  # the file of secrets has the rest
        return
    kind = entry.left.pop("transport", None)
    if kind is not None:
        entry.put("type", _TYPES.get(kind, kind) if isinstance(kind, str) else kind, "transport")
    seconds(entry, "read_timeout_seconds")


def _leave_out(entry: ServerDraft) -> None:
    entry.is_elsewhere = True


MCP_AGENT = Dialect(
    kind="mcp",
    name="mcp-agent",
    client="mcp-agent",
    patterns=("mcp_agent.config.yaml", "mcp-agent.config.yaml"),
    rank=31,
    syntax="yaml",
    is_settings=True,
    server_list="mcp/servers",
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    takes_null=True,
    takes_doubled_keys=True,
    requires={"url": ("transport",)},
    renames={"allowed_tools": "include_tools"},
    unused=frozenset({"name", "description", "http_timeout_seconds", "terminate_on_close", "auth", "roots"}),
    shape=_shape,
    variable="",
    variable_with_default="",
    secret_advice="put the value into `mcp_agent.secrets.yaml`, which stays out of version control",
)
MCP_AGENT_SECRETS = attrs.evolve(
    MCP_AGENT,
    name="mcp-agent-secrets",
    patterns=("mcp_agent.secrets.yaml", "mcp-agent.secrets.yaml"),
    rank=97,
    is_in_project=False,
    requires={},
    shape=_leave_out,
    adds_to_others=True,
    holds_secrets=True,
)
"""What is merged over the configuration: variables and headers of its servers, which octoc does not judge."""
