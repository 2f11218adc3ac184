"""Codex's `.codex/config.toml`, its servers left out.

Source: Codex, `config.schema.json`, `agent_roles.rs` (June 2026): it refuses a configuration with a word that it does
not know or a value of another type, and leaves out an agent whose file is not there. Paths are relative to the file.
Versions before 2026 take `chat` as `wire_api`, and `on-failure` as `approval_policy`. A server has only those keys
here that octoc's own form lacks. Keys whose type changed between versions are left out.
"""

from octoc.compiler.inputs.agents.clients import FLAG, NAMES, NUMBER, TABLE, TEXT, object_schema
from octoc.compiler.inputs.mcp.codex import CODEX as CODEX_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_POLICY = {"anyOf": [{"enum": ["untrusted", "on-request", "never", "on-failure"]}, {"type": "object"}]}
_INTEGER = {"type": "integer"}
_TEXTS = {"type": "object", "additionalProperties": TEXT}
_PROVIDER = object_schema(
    {
        "name": TEXT,
        "base_url": TEXT,
        "env_key": TEXT,
        "env_key_instructions": TEXT,
        "wire_api": {"enum": ["responses", "chat"]},
        **dict.fromkeys(("query_params", "http_headers", "env_http_headers"), _TEXTS),
        **dict.fromkeys(("request_max_retries", "stream_max_retries", "stream_idle_timeout_ms"), _INTEGER),
        **dict.fromkeys(("requires_openai_auth", "supports_websockets"), FLAG),
    }
)
_SERVER = object_schema(
    {
        **dict.fromkeys(("startup_timeout_sec", "tool_timeout_sec"), NUMBER),
        "startup_timeout_ms": _INTEGER,
        **dict.fromkeys(("required", "supports_parallel_tool_calls"), FLAG),
        **dict.fromkeys(("bearer_token_env_var", "oauth_resource"), TEXT),
        "env_vars": {"type": "array"},
        "scopes": NAMES,
        "env_http_headers": _TEXTS,
        "tools": TABLE,
    }
)
_COMMON = {
    "approval_policy": _POLICY,
    "sandbox_mode": {"enum": ["read-only", "workspace-write", "danger-full-access"]},
    "model": TEXT,
    "model_provider": TEXT,
}

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
            **dict.fromkeys(
                ("model_context_window", "model_auto_compact_token_limit", "project_doc_max_bytes"), _INTEGER
            ),
            **dict.fromkeys(("hide_agent_reasoning", "show_raw_agent_reasoning"), FLAG),
            "notify": NAMES,
            "project_doc_fallback_filenames": NAMES,
            "mcp_servers": {"type": "object", "additionalProperties": _SERVER},
            "model_providers": {"type": "object", "additionalProperties": _PROVIDER},
            "agents": object_schema(dict.fromkeys(("max_threads", "max_depth", "job_max_runtime_seconds"), _INTEGER)),
            "features": {"type": "object", "additionalProperties": {"type": ["boolean", "object"]}},
            "history": object_schema({"persistence": {"enum": ["save-all", "none"]}, "max_bytes": _INTEGER}),
            "projects": {"type": "object", "additionalProperties": object_schema({"trust_level": TEXT})},
            "sandbox_workspace_write": object_schema(
                {
                    **dict.fromkeys(("network_access", "exclude_slash_tmp", "exclude_tmpdir_env_var"), FLAG),
                    "writable_roots": NAMES,
                }
            ),
            "shell_environment_policy": object_schema(
                {
                    "inherit": {"enum": ["core", "all", "none"]},
                    **dict.fromkeys(("ignore_default_excludes", "experimental_use_profile"), FLAG),
                    **dict.fromkeys(("exclude", "include_only"), NAMES),
                    "set": _TEXTS,
                }
            ),
            "tui": object_schema(
                {
                    "notifications": {"type": ["boolean", "array"], "$comment": "true, false or a list of strings"},
                    "animations": FLAG,
                    "show_tooltips": FLAG,
                }
            ),
            "profiles": {"type": "object", "additionalProperties": object_schema(_COMMON)},
        }
    ),
    files=(("agents", "*", "config_file"), ("model_instructions_file",)),
    based_on="folder",
    addresses=(("model_providers", "*", "base_url"),),
    texts=(("shell_environment_policy", "set", "*"),),
    variable="",
)
