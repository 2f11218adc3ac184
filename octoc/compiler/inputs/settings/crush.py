"""Crush's `crush.json`, its servers left out.

Source: Crush (August 2026), `internal/config/resolve.go`: values of providers are expanded as in a shell.
`internal/config/config.go` and `internal/permission/permission.go`: names of tools, and `tool:action` of those that
need no permission; any other name does nothing. The older names are those of 2025.
"""

from octoc.compiler.inputs.mcp.crush import CRUSH as CRUSH_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

CRUSH = SettingsDialect(
    name="crush",
    client="Crush",
    patterns=CRUSH_SERVERS.patterns,
    server_list=CRUSH_SERVERS.server_list,
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
