"""What to paste into a client's file, so that it starts `octoc serve` or connects to it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from octoc.plugin.gateway import GatewaySettings

NAME = "octoc"
_ENV = "OCTOC_TOKEN"
_TOKEN = {"claude": f"${{{_ENV}}}", "cursor": f"${{env:{_ENV}}}", "vscode": "${input:octoc-token}"}
"""How each client's file refers to a secret that does not stand in it."""


def config(client: str, settings: GatewaySettings) -> str:
    """Return the client's JSON: `mcpServers` of Claude Code and Cursor, `servers` of VS Code; never with a token."""
    entry = _stdio(settings) if settings.transport == "stdio" else _http(client, settings)
    if client != "vscode":
        if client == "cursor":
            entry.pop("type")
        return json.dumps({"mcpServers": {NAME: entry}}, indent=2)
    whole: dict[str, Any] = {"servers": {NAME: entry}}
    if settings.transport == "http":
        whole["inputs"] = [
            {"id": "octoc-token", "type": "promptString", "description": "Token of octoc serve", "password": True}
        ]
    return json.dumps(whole, indent=2)


def _stdio(settings: GatewaySettings) -> dict[str, Any]:
    # Clients start it with a PATH and in a folder of their own.
    script = Path(sys.executable).with_name("octoc")
    command = [str(script)] if script.is_file() else [sys.executable, "-m", "octoc"]
    where = settings.workspace
    named = ["--bundle", str(settings.bundle)] if where is None else ["--workspace", str(where)]
    arguments = ["serve", *named, "--agent", settings.agent]
    if settings.stateless:
        arguments.append("--stateless")
    return {"type": "stdio", "command": command[0], "args": [*command[1:], *arguments]}


def _http(client: str, settings: GatewaySettings) -> dict[str, Any]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    headers = {"Authorization": f"Bearer {_TOKEN[client]}"}
    return {"type": "http", "url": f"http://{host}:{settings.port}/mcp", "headers": headers}
