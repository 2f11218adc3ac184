"""Crush's `crush.json`, its servers left out.

Source: Crush (August 2026), `internal/config/resolve.go`: values of providers are expanded as in a shell.
`internal/config/config.go` and `internal/permission/permission.go`: names of tools, and `tool:action` of those that
need no permission; any other name does nothing. The older names are those of 2025. Sizes of models are whole numbers
(catwalk, `provider.go`, 2026): Crush does not start with a text in their place.
"""

from octoc.compiler.inputs.agents.clients import object_schema
from octoc.compiler.inputs.mcp.crush import CRUSH as CRUSH_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_SIZES = object_schema({key: {"type": "integer"} for key in ("context_window", "default_max_tokens")})
_PROVIDER = object_schema({"models": {"type": "array", "items": _SIZES}})

CRUSH = SettingsDialect(
    name="crush",
    client="Crush",
    patterns=CRUSH_SERVERS.patterns,
    server_list=CRUSH_SERVERS.server_list,
    effect="Crush does not start",
    schema=object_schema({"providers": {"type": "object", "additionalProperties": _PROVIDER}}),
    tools=(("permissions", "allowed_tools"), ("options", "disabled_tools")),
    builtin=frozenset({
        "agent", "bash", "crush_info", "crush_logs", "job_output", "job_kill", "download", "edit", "multiedit",
        "lsp_diagnostics", "lsp_references", "lsp_restart", "lsp_symbols", "lsp_definition", "lsp_call_hierarchy",
        "lsp_rename", "lsp_replace_symbol", "fetch", "agentic_fetch", "web_fetch", "web_search", "glob", "grep", "ls",
        "question", "sourcegraph", "todos", "view", "write", "list_mcp_resources", "read_mcp_resource", "diagnostics",
        "references",
    }),
    addresses=(("providers", "*", "base_url"),),
    texts=tuple(("providers", "*", *key) for key in (("api_key",), ("base_url",), ("extra_headers", "*"))),
)  # fmt: skip
