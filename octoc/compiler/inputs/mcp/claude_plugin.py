"""The servers of a plugin: its `.mcp.json`, where they may stand at the root, and those in its manifest."""

import attrs

from octoc.compiler.inputs.claude.plugin import OPTION_VARIABLE, PLUGIN_FILE
from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.plugin.file_kinds import Dialect

PLUGIN = Dialect(
    kind="mcp",
    name="plugin",
    client="the plugin's client",
    patterns=(MCP_FILE,),
    beside=(PLUGIN_FILE,),
    rank=3,
    may_be_bare=True,
    takes_any_list=True,
    is_lenient=True,
    ignored=frozenset({"cwd"}),
    skips_short_timeouts=True,
    takes_prefixed_references=False,
    # The folder of the plugin; `CLAUDE_PLUGIN_DATA` and `user_config` have values in the user's home alone. Programs of
    # a plugin have the latter in variables, too (plugins reference, 2.1.240).
    replacements=(
        (r"\$\{CLAUDE_PLUGIN_ROOT\}", "${workspaceFolder}"),
        (r"\$\{user_config\.(\w+)\}", rf"${{{OPTION_VARIABLE}\1}}"),
    ),
)
OTHER_PLUGIN = attrs.evolve(
    PLUGIN,
    name="other-plugin",
    beside=(".cursor-plugin/plugin.json", ".codex-plugin/plugin.json", "plugin.json"),
    skips_short_timeouts=False,
    ignored=frozenset(),
    takes_numbers=True,
    takes_prefixed_references=True,
    infers_transport=True,
    renames={"http_headers": "headers", "enabled_tools": "include_tools", "disabled_tools": "exclude_tools"},
    unused=frozenset({
        "env_http_headers", "bearer_token_env_var", "env_vars", "startup_timeout_sec", "startup_timeout_ms",
        "tool_timeout_sec", "enabled", "required", "scopes", "oauth_resource", "default_tools_approval_mode",
    }),
)  # fmt: skip
"""The servers of a plugin that is not Claude Code's: Codex reads no `type` (`plugin_config.rs`), Cursor needs none."""
PLUGIN_MANIFEST = attrs.evolve(
    PLUGIN,
    name="plugin-manifest",
    client="Claude Code",
    patterns=(PLUGIN_FILE,),
    beside=(),
    rank=4,
    may_be_bare=False,
    takes_any_list=False,
    is_settings=True,
    may_be_path=True,
)
