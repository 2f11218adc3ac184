"""How the configuration file of each client defines a server: data for `--print-config`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

WORKSPACE_FOLDER = "${workspaceFolder}"


@attrs.frozen(kw_only=True)
class ClientForm:
    """One client's form of a server.

    Args:
        title: the client, as messages name it.
        servers: the key that has the servers; `/` leads into an object.
        is_list: the servers are a list, each with its `name`.
        syntax: what the file is written in.
        kinds: the words of `type` for a program and for an address; "" where the client needs none.
        has_addresses: the file may have servers with an address.
        folder: how arguments name the project's folder. Empty: the client starts servers in it.
        of_user: the client has one file for all projects.
        variable: how the file refers to the variable NAME. Empty: the client replaces no references.
        passes_few: the client starts programs with few variables of its own environment.
        asks: the client asks for a token and keeps it, and the file lists what it asks for as `inputs`.
        joins_command: `command` is a list of the program and its arguments.
        tool: how an agent of the client names all tools of the server NAME. Empty: its agents list no servers' tools.
        keys: other names of `type`, `command`, `url` and `headers`; `/` leads into an object.
        extra: further keys of each server.
        top: further keys of the file.
    """

    title: str
    servers: str = "mcpServers"
    is_list: bool = False
    syntax: Literal["json", "toml", "yaml"] = "json"
    kinds: tuple[str, str] = ("", "")
    has_addresses: bool = True
    folder: str = ""
    of_user: bool = False
    variable: str = "${NAME}"
    passes_few: bool = False
    asks: bool = False
    joins_command: bool = False
    tool: str = ""
    keys: Mapping[str, str] = attrs.field(factory=dict)
    extra: Mapping[str, object] = attrs.field(factory=dict)
    top: Mapping[str, object] = attrs.field(factory=dict)


_ENV = "${env:NAME}"

CLIENTS: Mapping[str, ClientForm] = {
    # Claude Code starts a project's servers in the folder of the session, and octoc looks for octoc.toml upwards.
    # A subagent's `tools` take `mcp__SERVER__*` (Claude Code 2.1.258; 2.1.119 took only the names of single tools).
    "claude": ClientForm(title="Claude Code", kinds=("stdio", "http"), tool="mcp__NAME__*"),
    # The protocol's page on debugging says which few variables Claude Desktop passes.
    "claude-desktop": ClientForm(
        title="Claude Desktop", has_addresses=False, of_user=True, variable="", passes_few=True
    ),
    # Pages that describe Cursor's documentation (2026) name `${workspaceFolder}` and `${env:NAME}`.
    "cursor": ClientForm(title="Cursor", folder=WORKSPACE_FOLDER, variable=_ENV),
    # VS Code starts servers in the home folder; its reference (May 2026) names `${workspaceFolder}`, `${input:ID}`.
    "vscode": ClientForm(
        title="VS Code", servers="servers", kinds=("stdio", "http"), folder=WORKSPACE_FOLDER, asks=True
    ),
    "visual-studio": ClientForm(title="Visual Studio", servers="servers", kinds=("stdio", "http"), asks=True),
    # Codex clears the environment, except a fixed list and what `env_vars` names (its source, January 2026).
    "codex": ClientForm(title="Codex", servers="mcp_servers", syntax="toml", variable="NAME", passes_few=True),
    "gemini": ClientForm(title="Gemini CLI", keys={"url": "httpUrl"}),
    "opencode": ClientForm(
        title="OpenCode", servers="mcp", kinds=("local", "remote"), variable="{env:NAME}", joins_command=True
    ),
    # Zed starts a project's servers in the root of its first folder.
    "zed": ClientForm(title="Zed", servers="context_servers", variable=""),
    "kiro": ClientForm(title="Kiro"),
    "amazon-q": ClientForm(title="Amazon Q", kinds=("stdio", "http"), variable=_ENV),
    "junie": ClientForm(title="Junie", variable=""),
    # Roo Code's documentation names `${env:NAME}` in arguments; its source replaces both in every value, and passes the
    # few variables of the TypeScript SDK, as LibreChat's does.
    "roo": ClientForm(
        title="Roo Code",
        kinds=("stdio", "streamable-http"),
        folder=WORKSPACE_FOLDER,
        variable=_ENV,
        passes_few=True,
    ),
    "cline": ClientForm(title="Cline", kinds=("stdio", "streamableHttp"), of_user=True, variable=""),
    "trae": ClientForm(title="Trae", folder=WORKSPACE_FOLDER, variable=""),
    # Windsurf's documentation (Cascade, MCP) names `serverUrl` and variables of the environment, and no project's file.
    "windsurf": ClientForm(title="Windsurf", keys={"url": "serverUrl"}, of_user=True, variable=_ENV),
    "factory": ClientForm(title="Factory", kinds=("stdio", "http")),
    "copilot": ClientForm(title="GitHub Copilot", kinds=("local", "http"), extra={"tools": ["*"]}),
    "librechat": ClientForm(
        title="LibreChat", syntax="yaml", kinds=("stdio", "streamable-http"), of_user=True, passes_few=True
    ),
    "mcp-agent": ClientForm(
        title="mcp-agent",
        servers="mcp/servers",
        syntax="yaml",
        kinds=("stdio", "streamable_http"),
        keys={"type": "transport"},
        variable="",
    ),
    "goose": ClientForm(
        title="Goose",
        servers="extensions",
        syntax="yaml",
        kinds=("stdio", "streamable_http"),
        keys={"command": "cmd", "url": "uri"},
        extra={"name": "octoc", "enabled": True},
        of_user=True,
    ),
    "continue": ClientForm(
        title="Continue",
        syntax="yaml",
        is_list=True,
        kinds=("stdio", "streamable-http"),
        keys={"headers": "requestOptions/headers"},
        variable="${{ secrets.NAME }}",
        top={"name": "octoc", "version": "0.0.1", "schema": "v1"},
    ),
    "crush": ClientForm(title="Crush", servers="mcp", kinds=("stdio", "http"), variable="$NAME"),
    "amp": ClientForm(title="Amp", servers="amp.mcpServers"),
    "pi": ClientForm(title="Pi"),
    # No source that describes Augment's file names references.
    "augment": ClientForm(title="Augment", variable=""),
    "qwen": ClientForm(title="Qwen Code", keys={"url": "httpUrl"}),
    "tabnine": ClientForm(title="Tabnine", keys={"url": "httpUrl"}),
    "iflow": ClientForm(title="iFlow CLI", keys={"url": "httpUrl"}),
    "kilo": ClientForm(
        title="Kilo Code", servers="mcp", kinds=("local", "remote"), variable="{env:NAME}", joins_command=True
    ),
    # No source that describes Antigravity names references.
    "antigravity": ClientForm(title="Antigravity", keys={"url": "serverUrl"}, variable=""),
    "vibe": ClientForm(
        title="Mistral Vibe",
        servers="mcp_servers",
        is_list=True,
        syntax="toml",
        kinds=("stdio", "streamable-http"),
        keys={"type": "transport", "bearer_token_env_var": "api_key_env"},
        variable="NAME",
    ),
}
"""By the name that `octoc check --kind mcp:NAME` takes."""

ALIASES: Mapping[str, str] = {"claude-code": "claude"}
"""Other names of clients."""

FILES: Mapping[str, str] = {
    "claude": ".mcp.json",
    "claude-desktop": "claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "visual-studio": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "zed": ".zed/settings.json",
    "kiro": ".kiro/settings/mcp.json",
    "amazon-q": ".amazonq/mcp.json",
    "junie": ".junie/mcp/mcp.json",
    "roo": ".roo/mcp.json",
    "cline": "cline_mcp_settings.json",
    "trae": ".trae/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "factory": ".factory/mcp.json",
    "copilot": ".github/mcp.json",
    "librechat": "librechat.yaml",
    "mcp-agent": "mcp_agent.config.yaml",
    "goose": ".config/goose/config.yaml",
    "continue": ".continue/config.yaml",
    "crush": "crush.json",
    "amp": ".amp/settings.json",
    "pi": ".pi/mcp.json",
    "augment": ".augment/settings.json",
    "qwen": ".qwen/settings.json",
    "tabnine": ".tabnine/agent/settings.json",
    "iflow": ".iflow/settings.json",
    "kilo": "kilo.jsonc",
    "antigravity": ".agents/mcp_config.json",
    "vibe": ".vibe/config.toml",
}
"""The file of each client that the entry belongs in: of the project, or of the user where the form is `of_user`."""
