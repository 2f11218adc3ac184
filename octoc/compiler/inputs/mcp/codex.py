"""Codex's `.codex/config.toml`: a table for each server. Seen in its source, November 2026.

It starts no server whose name is not `^[a-zA-Z0-9_-]+$` (`codex-mcp/src/rmcp_client.rs`).
"""

from typing import Any

from octoc.compiler.inputs.mcp.convert import ServerDraft, seconds
from octoc.plugin.file_kinds import Dialect

_FIELDS = frozenset({
    "command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers", "env_http_headers",
    "tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms", "enabled", "enabled_tools", "disabled_tools",
})  # fmt: skip
_UNUSED = frozenset({
    "type", "name", "description", "required", "scopes", "oauth",
    "oauth_resource", "default_tools_approval_mode", "tools", "supports_parallel_tool_calls",
    "experimental_environment",
})  # fmt: skip
_TIMES = frozenset({"tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms"})
_ROOT = ("model", "model_reasoning_effort", "approval_policy", "sandbox_mode", "web_search", "personality", "notify")


def _shape(entry: ServerDraft) -> None:
    # Tables of a project join those of the user, key by key: one that starts nothing changes a server of the user's.
    if entry.left.keys() <= _FIELDS - {"command", "args", "url"}:
        entry.is_elsewhere = True
        return
    seconds(entry, "tool_timeout_sec")
    # octoc does not act on the other time limits; the settings beside the servers tell their types.
    for key in _TIMES & entry.left.keys():
        del entry.left[key]
    entry.rename("http_headers", "headers")
    entry.add_references("env_http_headers", "headers")
    entry.rename("env", "env")
    if isinstance(entry.left.get("env_vars"), list):
        entry.left["env_vars"] = [_name_of(one) for one in entry.left["env_vars"]]
    entry.add_references("env_vars", "env")
    entry.left.pop("env_vars", None)  # of another type: the settings beside the servers tell it
    variable = entry.left.pop("bearer_token_env_var", None)
    if variable is not None:
        entry.put("auth", {"type": "bearer", "token_env": variable}, "bearer_token_env_var")
        entry.moved["auth", "token_env"] = ("bearer_token_env_var",)


def _name_of(variable: Any) -> Any:
    """Return the name of a variable, which newer versions also write as a table with its `name` and `source`."""
    is_table = isinstance(variable, dict) and isinstance(variable.get("name"), str)
    return variable["name"] if is_table else variable


CODEX = Dialect(
    kind="mcp",
    name="codex",
    client="Codex",
    patterns=(".codex/config.toml",),
    rank=10,
    syntax="toml",
    is_settings=True,
    server_list="mcp_servers",
    infers_transport=True,
    is_lenient=True,
    passes_few=True,
    refuses_other_names=True,
    fields=_FIELDS,
    renames={"enabled_tools": "include_tools", "disabled_tools": "exclude_tools"},
    unused=_UNUSED,
    effect="Codex refuses its configuration",
    key_schemas={
        "startup_timeout_sec": {"description": "Time limit of a start in seconds.", "type": "number"},
        "startup_timeout_ms": {"description": "Time limit of a start in milliseconds.", "type": "number"},
    },
    shape=_shape,
    hints={
        "bearer_token": "set a variable to it and name the variable in `bearer_token_env_var`",
        "headers": "call it `http_headers`",
        **dict.fromkeys(_ROOT, "move it above the first table: here it belongs to the server"),
    },
    variable="",
    variable_with_default="",
    secret_advice="name the variable in `env_vars`, `env_http_headers` or `bearer_token_env_var`",
)  # fmt: skip
