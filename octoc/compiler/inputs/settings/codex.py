"""Codex's `.codex/config.toml`, its servers left out.

Source: Codex, `config.schema.json`, `agent_roles.rs` (June 2026): it refuses a configuration with a word that it does
not know, and leaves out an agent whose file is not there. Paths are relative to the file. Versions before 2026 take
`chat` as `wire_api`, and `on-failure` as `approval_policy`.
"""

from octoc.compiler.inputs.agents.clients import object_schema
from octoc.compiler.inputs.mcp.codex import CODEX as CODEX_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_POLICY = {"anyOf": [{"enum": ["untrusted", "on-request", "never", "on-failure"]}, {"type": "object"}]}
_PROVIDER = object_schema({"wire_api": {"enum": ["responses", "chat"]}})
_COMMON = {"approval_policy": _POLICY, "sandbox_mode": {"enum": ["read-only", "workspace-write", "danger-full-access"]}}

CODEX = SettingsDialect(
    name="codex",
    client="Codex",
    patterns=CODEX_SERVERS.patterns,
    syntax="toml",
    server_list=CODEX_SERVERS.server_list,
    effect="Codex refuses its configuration",
    schema=object_schema(
        {
            **_COMMON,
            "model_providers": {"type": "object", "additionalProperties": _PROVIDER},
            "profiles": {"type": "object", "additionalProperties": object_schema(_COMMON)},
        }
    ),
    files=(("agents", "*", "config_file"), ("model_instructions_file",)),
    based_on="folder",
    texts=(("shell_environment_policy", "set", "*"),),
    variable="",
)
