"""Codex's agents: `.codex/agents/**/*.toml`, each a layer of its configuration with a name and a description.

Source: Codex, `agent_roles.rs` and `config.schema.json` (June 2026): it leaves out an agent that it cannot read, with a
warning. `name` and `description` may stand in `[agents.NAME]` of its configuration instead, whose `config_file` may be
any layer of it.
"""

import attrs

from octoc.compiler.inputs.agents.clients import ANYTHING, NAMES, TABLE, TEXT, AgentDialect, object_schema, unread

_SETTINGS = (
    *("agents", "allow_login_shell", "analytics", "approval_policy", "approvals_reviewer", "apps", "audio"),
    *("auto_review", "background_terminal_max_timeout", "check_for_update_on_startup", "compact_prompt"),
    *("chatgpt_base_url", "cli_auth_credentials_store", "commit_attribution", "default_permissions", "desktop"),
    *("disable_paste_burst", "features", "feedback", "file_opener", "ghost_snapshot", "hide_agent_reasoning"),
    *("history", "hooks", "instructions", "log_dir", "marketplaces", "memories", "model_auto_compact_token_limit"),
    *("model_catalog_json", "model_context_window", "model_instructions_file", "model_provider", "model_providers"),
    *("model_reasoning_summary", "model_supports_reasoning_summaries", "model_verbosity", "notice", "notify"),
    *("openai_base_url", "oss_provider", "otel", "permissions", "personality", "plan_mode_reasoning_effort"),
    *("plugins", "profile", "profiles", "project_doc_fallback_filenames", "project_doc_max_bytes", "projects"),
    *("project_root_markers", "realtime", "review_model", "sandbox_workspace_write", "service_tier"),
    *("shell_environment_policy", "show_raw_agent_reasoning", "sqlite_home", "tool_output_token_limit"),
    *("tool_suggest", "tui", "web_search", "windows"),
)

CODEX = AgentDialect(
    name="codex",
    client="Codex",
    patterns=(".codex/agents/**/*.toml",),
    home=".codex",
    syntax="toml",
    effect="Codex leaves the agent out",
    schema=object_schema(
        {
            **dict.fromkeys(_SETTINGS, ANYTHING),
            "name": TEXT,
            "description": {**TEXT, "pattern": r"\S"},
            "developer_instructions": {**TEXT, "pattern": r"\S"},
            "nickname_candidates": {**NAMES, "minItems": 1},
            "model": TEXT,
            "model_reasoning_effort": TEXT,
            "sandbox_mode": {"enum": ["read-only", "workspace-write", "danger-full-access"]},
            "mcp_servers": TABLE,
            "skills": TABLE,
            "tools": TABLE,
        }
    ),
    tools=(),
    wants=("name", "description", "developer_instructions"),
    doubled="it leaves one of them out",
    refused_keys=r"(?!experimental_|forced_|include_|mcp_|model_|tool)",
    unread=unread('write `sandbox_mode = "read-only"` to keep the agent from writing'),
)
CODEX_USER = attrs.evolve(
    CODEX,
    name="codex-user",
    patterns=("codex/agents/**/*.toml",),
    home="",
    is_in_project=False,
    wants=(),
)
"""The agents in a user's own folder, as repositories of such folders keep it.

Settings that name them may be a template, or outside of the repository.
"""
