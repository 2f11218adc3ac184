"""Codex's `.codex/config.toml`, its servers left out, and the profiles beside it.

Source: Codex, `config.schema.json`, `config_types.rs`, `agent_roles.rs` (June 2026): it refuses a configuration with a
word that it does not know or a value of another type, and leaves out an agent whose file is not there. Paths are
relative to the file.
Versions before 2026 take `chat` as `wire_api`, and `on-failure` as `approval_policy`. A server has only those keys
here that octoc's own form lacks. Keys whose type changed between versions are left out. `codex --profile NAME` also
reads `NAME.config.toml` of the user's `.codex`, which has the same keys (advanced configuration, version 0.134).
"""

from octoc.compiler.inputs.agents.clients import FLAG, NAMES, NUMBER, TABLE, TEXT, object_schema
from octoc.compiler.inputs.mcp.codex import CODEX as CODEX_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import CODEX_HOOK_FORM

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
    "model_reasoning_summary": {"enum": ["auto", "concise", "detailed", "none"]},
    "model_verbosity": {"enum": ["low", "medium", "high"]},
}

_ROOT = frozenset({
    "agents", "allow_login_shell", "analytics", "approval_policy", "approvals_reviewer", "apps",
    "apps_mcp_product_sku", "audio", "auto_review", "background_terminal_max_timeout", "chatgpt_base_url",
    "check_for_update_on_startup", "cli_auth_credentials_store", "compact_prompt", "debug", "default_permissions",
    "desktop", "developer_instructions", "disable_paste_burst", "disable_response_storage",
    "experimental_compact_prompt_file", "experimental_instructions_file", "experimental_resume",
    "experimental_thread_store", "experimental_use_exec_command_tool", "experimental_use_rmcp_client",
    "experimental_use_unified_exec_tool", "features", "feedback", "file_opener", "forced_chatgpt_workspace_id",
    "forced_login_method", "ghost_snapshot", "hide_agent_reasoning", "history", "hooks",
    "include_apps_instructions", "include_collaboration_mode_instructions", "include_environment_context",
    "include_permissions_instructions", "instructions", "log_dir", "marketplaces", "mcp_oauth_callback_port",
    "mcp_oauth_callback_url", "mcp_oauth_credentials_store", "mcp_servers", "memories", "model",
    "model_auto_compact_token_limit", "model_auto_compact_token_limit_scope", "model_catalog_json",
    "model_context_window", "model_instructions_file", "model_max_output_tokens", "model_provider",
    "model_providers", "model_reasoning_effort", "model_reasoning_summary", "model_reasoning_summary_format",
    "model_supports_reasoning_summaries", "model_verbosity", "network", "notice", "notify", "openai_base_url",
    "oss_provider", "otel", "permissions", "personality", "plan_mode_reasoning_effort", "plugins",
    "preferred_auth_method", "profile", "profiles", "project_doc_fallback_filenames", "project_doc_max_bytes",
    "project_root_markers", "projects", "realtime", "review_model", "sandbox_mode", "sandbox_permissions",
    "sandbox_workspace_write", "service_tier", "shell_environment_policy", "show_raw_agent_reasoning", "skills",
    "sqlite_home", "suppress_unstable_features_warning", "tool_output_token_limit", "tool_suggest", "tools", "tui",
    "web_search", "windows", "windows_wsl_setup_acknowledged",
})  # fmt: skip
"""Keys of the file's root, those of earlier versions, too."""

CODEX = SettingsDialect(
    name="codex",
    client="Codex",
    patterns=(*CODEX_SERVERS.patterns, ".codex/*.config.toml"),
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
            "forced_login_method": {"enum": ["chatgpt", "api"]},
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
    known_keys={(): _ROOT, ("profiles", "*"): _ROOT},
    hooks=CODEX_HOOK_FORM,
    files=(("agents", "*", "config_file"), ("model_instructions_file",)),
    based_on="folder",
    addresses=(("model_providers", "*", "base_url"),),
    texts=(("shell_environment_policy", "set", "*"),),
    variable="",
)
